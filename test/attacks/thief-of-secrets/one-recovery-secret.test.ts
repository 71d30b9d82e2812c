/**
 * Attack: the coordinator exports every recovery package, and a thief steals one of the offline
 *   secrets.
 * Attacker: thief-of-secrets
 * Co-signers: 0
 * Finding: 20
 * Defence: each co-signer pins its own recovery key, so one secret opens one share.
 */
import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VaultKey } from '#domain/vault.ts';
import { openRecovery } from '#cli/rebuild-key.ts';
import { recovered } from '#cli/recover.ts';
import type { RecoveryPackage } from '#mpc/recovery.ts';
import { sealForRecovery } from '#mpc/recovery.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { newKey, startCosigners } from '../../cosigner/cosigners.ts';
import { dealKey, party } from '../../mpc/dealt-key.ts';
import { SECRETS } from '#mpc/secp256k1.ts';

const TERMS = { chains: ['eip155:31337'], signingKeys: new Map<number, string>() };
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
  packages = await Promise.all(
    cosigners.all.map(async (cosigner) => {
      const answer = await cosigner.call(`key/${key.keyId}/recovery`, {});
      if (!answer.ok) throw new Error(answer.refusal.code);
      return answer.value as RecoveryPackage;
    }),
  );
}, 60_000);
afterAll(() => cosigners.stop());

test('one secret opens the share of one co-signer, and no key', async () => {
  for (const [i, secret] of [first, second, third].entries()) {
    const { wallets, faults } = await recovered([secret], packages, TERMS);
    expect(wallets).toEqual([]);
    // One run failed here for an unknown reason: the package of co-signer 1 did not open. If this
    // happens again, the data show whether the seal or the opening was wrong.
    const evidence = JSON.stringify({ secret, packages });
    expect(faults, evidence).toContain(
      `${key.keyId} of epoch 1: 1 shares found, but 2 shares that match the key are required`,
    );
    const opens = await Promise.all(packages.map(async (one) => typeof (await openRecovery(secret, one)) !== 'string'));
    expect(opens).toEqual([0, 1, 2].map((cosigner) => cosigner === i));
  }
});

test('a package that names the stolen key as its own does not open', async () => {
  const renamed = packages.map((one) => ({ ...one, recoveryKey: packages[0]?.recoveryKey ?? '' }));
  const { wallets, faults } = await recovered([first], renamed, TERMS);
  expect([wallets, faults.filter((fault) => fault.includes('does-not-open')).length]).toEqual([[], 2]);
});

test('as many recovery secrets as co-signers that sign together recover the key', async () => {
  for (const secrets of [
    [first, second],
    [first, third],
    [second, third],
    [third, second, first],
  ]) {
    const { wallets } = await recovered(secrets, packages, TERMS);
    expect(wallets.map(({ address }) => address)).toEqual([key.addresses['anvil']]);
  }
});

test('in a deployment with one recovery key for all co-signers, its secret opens all packages', async () => {
  const parties = [party(1), party(2), party(3)];
  const dealt = dealKey(2, parties);
  const sealed = await Promise.all(
    parties.map((self) => {
      const secret = dealt.shares.get(self) ?? SECRETS.of(0n);
      const whole = { scheme: 'ecdsa-secp256k1' as const, keyId: 'a'.repeat(64), epoch: 1, threshold: 2 };
      const { publicKey, publicShares } = dealt;
      const recoveryKey = packages[0]?.recoveryKey ?? '';
      const share = { ...whole, self, secret, publicKey, publicShares };
      return sealForRecovery(recoveryKey, share).then((one) => ({ ...one, signature: '' }));
    }),
  );
  expect((await recovered([first], sealed, TERMS)).wallets).toHaveLength(1);
  expect((await recovered([second, third], sealed, TERMS)).wallets).toEqual([]);
});
