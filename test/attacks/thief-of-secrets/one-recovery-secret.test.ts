/**
 * Attack: the coordinator exports every recovery package, and a thief steals one of the offline
 *   secrets.
 * Attacker: thief-of-secrets
 * Co-signers: 0
 * Finding: 20
 * Defence: each co-signer pins its own recovery key, so one secret opens one share.
 */
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { openRecovery } from '#cli/recovery/rebuild-key.ts';
import { isSignedPackage } from '#cli/recovery/terms.ts';
import { recovered } from '#cli/recovery/open.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { recoveryPackageBytes, sealForRecovery } from '#mpc/recovery/package.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { newKey, present, startCosigners } from '../../cosigner/cosigners.ts';
import { dealKey, party } from '../../mpc/dealt-key.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import { pinsOf } from '../statement-scene.ts';

const chains = ['eip155:31337'];
let terms: Parameters<typeof recovered>[2];
const publicHalf = (secret: Uint8Array) => bytesToHex(x25519.getPublicKey(secret));
/** The recovery secrets, each in its own safe. */
const RECOVERY_SECRETS = [1, 2, 3].map(() => randomBytes(32));
const [first = '', second = '', third = ''] = RECOVERY_SECRETS.map((secret) => bytesToHex(secret));

let cosigners: Cosigners;
let key: VaultKey;
let packages: readonly RecoveryPackage[];
beforeAll(async () => {
  cosigners = await startCosigners(3, { recoveryKeys: RECOVERY_SECRETS.map(publicHalf) });
  key = await newKey(cosigners.all);
  const pins = await pinsOf(cosigners);
  terms = { chains, signingKeys: new Map(pins.map(({ signing }, i) => [i + 1, signing])) };
  packages = await Promise.all(
    cosigners.all.map(async (cosigner) => {
      const answer = await cosigner.call(`key/${key.keyId}/recovery`, {});
      if (!answer.ok) throw new Error(answer.refusal.code);
      return answer.value as RecoveryPackage;
    }),
  );
});
afterAll(() => cosigners.stop());

test('one secret opens the share of one co-signer, and no key', async () => {
  const secrets = [first, second, third];
  // Every package is opened before the first assertion: one run failed here for an unknown reason,
  // and one package does not show whether the seal or the opening was wrong.
  const opens = await Promise.all(
    secrets.map((secret) => Promise.all(packages.map(async (one) => typeof (await openRecovery(secret, one))))),
  );
  const signed = packages.map((one) => isSignedPackage(one, terms.signingKeys));
  const alone = await Promise.all(secrets.map((secret) => recovered([secret], packages, terms)));
  const expected = secrets.map((_, i) => packages.map((_one, cosigner) => (cosigner === i ? 'object' : 'string')));
  expect({ opens, signed }, JSON.stringify({ secrets, packages })).toEqual({
    opens: expected,
    signed: [true, true, true],
  });
  for (const { wallets, faults } of alone) {
    expect(wallets).toEqual([]);
    expect(faults).toContain(`${key.keyId} of epoch 1: 1 shares found, but 2 shares that match the key are required`);
  }
});

test('a package that names the stolen key as its own does not open', async () => {
  const renamed = packages.map((one) => ({ ...one, recoveryKey: packages[0]?.recoveryKey ?? '' }));
  const { wallets, faults } = await recovered([first], renamed, terms);
  expect([wallets, faults.filter((fault) => fault.includes('does-not-open')).length]).toEqual([[], 2]);
});

test('as many recovery secrets as co-signers that sign together recover the key', async () => {
  for (const secrets of [
    [first, second],
    [first, third],
    [second, third],
    [third, second, first],
  ]) {
    const { wallets } = await recovered(secrets, packages, terms);
    expect(wallets.map(({ address }) => address)).toEqual([key.addresses['anvil']]);
  }
});

test('in a deployment with one recovery key for all co-signers, its secret opens all packages', async () => {
  const parties = [party(1), party(2), party(3)];
  const dealt = dealKey(2, parties);
  const identities = parties.map(() => ed25519.keygen());
  const signingKeys = new Map(identities.map(({ publicKey }, i) => [i + 1, bytesToHex(publicKey)]));
  const sealed = await Promise.all(
    parties.map((self) => {
      const secret = dealt.shares.get(self) ?? SECRETS.of(0n);
      const { publicKey, publicShares } = dealt;
      const scheme = 'ecdsa-secp256k1';
      const whole = { scheme, keyId: keyIdOf(scheme, publicKey), epoch: 1, threshold: 2 } as const;
      const recoveryKey = packages[0]?.recoveryKey ?? '';
      const share = { ...whole, self, secret, publicKey, publicShares };
      const { secretKey } = present(identities[self - 1]);
      return sealForRecovery(recoveryKey, share).then((one) => ({
        ...one,
        signature: bytesToHex(ed25519.sign(recoveryPackageBytes(one), secretKey)),
      }));
    }),
  );
  expect((await recovered([first], sealed, { chains, signingKeys })).wallets).toHaveLength(1);
  expect((await recovered([second, third], sealed, { chains, signingKeys })).wallets).toEqual([]);
});
