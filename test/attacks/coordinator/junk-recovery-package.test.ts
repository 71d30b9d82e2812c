/**
 * Attack: the coordinator replaces the recovery package of a co-signer by junk that it seals
 *   itself, so that the backup fails on the day on which it is needed.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F12
 * Defence: each package carries the signature of its co-signer, which the operator verifies after
 *   the export.
 */
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { isSignedBy } from '#cli/peers-file.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { recoveryPackageBytes, sealForRecovery } from '#mpc/recovery/package.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { newKey, startCosigners } from '../../cosigner/cosigners.ts';
import { party } from '../../mpc/dealt-key.ts';
import { pinsOf } from '../statement-scene.ts';
import { SECRETS } from '#mpc/secp256k1.ts';

const recoveryKey = bytesToHex(x25519.keygen().publicKey);
let cosigners: Cosigners;
let key: VaultKey;
beforeAll(async () => {
  cosigners = await startCosigners(3, { recoveryKeys: [recoveryKey, recoveryKey, recoveryKey] });
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());

test('the package of a co-signer has its signature, and no other package has it', async () => {
  const pins = await pinsOf(cosigners);
  const honest: RecoveryPackage[] = [];
  for (const cosigner of cosigners.all) {
    const answer = await cosigner.call(`key/${key.keyId}/recovery`, {});
    if (!answer.ok) throw new Error(answer.refusal.code);
    honest.push(answer.value as RecoveryPackage);
  }
  const isGenuine = (one: RecoveryPackage) =>
    isSignedBy(pins[one.node - 1]?.signing, one.signature, recoveryPackageBytes(one));
  expect(honest.map(isGenuine)).toEqual([true, true, true]);
  const [first, second] = honest;
  if (first === undefined || second === undefined) throw new Error('each co-signer gives a package');
  const { scheme, keyId, epoch, threshold } = first;
  const publicShares = new Map(
    Object.entries(first.publicShares).map(([node, point]) => [party(Number.parseInt(node, 10)), hexToBytes(point)]),
  );
  const share = { scheme, keyId, epoch, threshold, self: party(1), secret: SECRETS.of(1n), publicShares };
  const junk = await sealForRecovery(recoveryKey, { ...share, publicKey: hexToBytes(first.publicKey) });
  const own = ed25519.sign(recoveryPackageBytes(junk), ed25519.keygen().secretKey);
  expect(
    [first.signature, second.signature, bytesToHex(own), ''].map((signature) => isGenuine({ ...junk, signature })),
  ).toEqual([false, false, false, false]);
  expect(isGenuine({ ...first, ciphertext: second.ciphertext })).toBe(false);
});
