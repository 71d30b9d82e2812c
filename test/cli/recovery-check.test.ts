import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recoverySecretOf } from '#cli/recovery/key-file.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { sealForRecovery } from '#mpc/recovery/package.ts';
import type { DealtKey } from '../mpc/dealt-key.ts';
import type { Recovery } from '../attacks/recovery-scene.ts';
import { addressOf, CHAIN, offline, startRecovery } from '../attacks/recovery-scene.ts';

/** Covers `recover check`, by which the holder of one recovery key opens its packages alone. */

let recovery: Recovery;
let dealt: DealtKey;
let packages: readonly RecoveryPackage[];
beforeAll(async () => {
  recovery = await startRecovery(3, 2);
  dealt = recovery.deal();
  packages = await recovery.exported(dealt);
});
afterAll(() => recovery.stop());

const keyFile = (cosigner: number) => recovery.keyFiles[cosigner - 1] ?? '';
const check = async (cosigner: number, some: readonly unknown[]) =>
  offline(
    'recover',
    'check',
    '--key',
    keyFile(cosigner),
    '--peers',
    recovery.peersFile,
    '--chain',
    CHAIN,
    await recovery.file(some),
  );
const sealed = async (cosigner: number, recoveryKey: string, of = dealt) =>
  recovery.signed(await sealForRecovery(recoveryKey, recovery.shareOf(of, cosigner)));
const replaced = (one: RecoveryPackage) => packages.map((other) => (other.node === one.node ? one : other));

test('each holder sees that the packages for its key open, and no secret', async () => {
  const next = recovery.deal();
  const all = [...packages, ...(await recovery.exported(next, 2))];
  for (const cosigner of [1, 2, 3]) {
    const { code, output, errors } = await check(cosigner, all);
    expect([code, errors]).toEqual([0, '']);
    const [first, second] = [dealt, next].map((key, i) => {
      const { keyId } = recovery.shareOf(key, 1);
      return `opens: key ${keyId}, co-signer ${cosigner}, epoch ${i + 1}\n  ${CHAIN} ${addressOf(key)}\n`;
    });
    // The whole output is public: key ids, numbers and addresses.
    expect(output).toBe(`${first}${second}`);
    expect(output).not.toContain(recoverySecretOf(keyFile(cosigner)));
  }
});

test('a mistyped RECOVERY_KEY is found: no package is for the key', async () => {
  const other = bytesToHex(x25519.keygen().publicKey);
  const answer = await check(2, replaced(await sealed(2, other)));
  expect(answer).toMatchObject({ code: 1, output: '' });
  expect(answer.errors).toContain(`No package is sealed for the recovery key ${recovery.recoveryKeys[1]}`);
});

test('a key of the export without a package for this recovery key is a fault', async () => {
  const next = recovery.deal();
  const [, ...others] = await recovery.exported(next);
  const answer = await check(1, [...packages, ...others]);
  expect(answer.code).toBe(1);
  expect(answer.errors).toBe(`${recovery.shareOf(next, 1).keyId}: no package is sealed for this recovery key\n`);
});

test('a recovery key that two co-signers share is a fault', async () => {
  const answer = await check(1, replaced(await sealed(2, recovery.recoveryKeys[0] ?? '')));
  expect(answer.code).toBe(1);
  expect(answer.errors).toContain('The co-signers 1 and 2 share this recovery key');
});

test('a package that does not open, is not signed, or has a false share is a fault', async () => {
  const [one] = packages;
  if (one === undefined) throw new Error('co-signer 1 gave a package');
  const foreign = recovery.shareOf(recovery.deal(), 1).secret;
  const recoveryKey = recovery.recoveryKeys[0] ?? '';
  const false1 = recovery.signed(
    await sealForRecovery(recoveryKey, { ...recovery.shareOf(dealt, 1), secret: foreign }),
  );
  for (const [changed, fault] of [
    [recovery.signed({ ...one, ciphertext: '00'.repeat(48) }), 'does-not-open'],
    [recovery.signed({ ...one, encapsulated: '00'.repeat(32) }), 'no-shared-secret'],
    [{ ...one, signature: '00'.repeat(64) }, 'not-signed-by-the-co-signer'],
    [false1, 'not-its-public-share'],
    [recovery.signed({ ...one, threshold: 1 }), 'a threshold of 1 of 3'],
    [{ ...one, extra: true }, 'package 1'],
  ] as const) {
    const answer = await check(1, [changed, ...packages.slice(1)]);
    expect([fault, answer.code, answer.output]).toEqual([fault, 1, '']);
    expect(answer.errors).toContain(fault);
  }
});

test('more than one key, and no packages, are refused', async () => {
  const file = await recovery.file(packages);
  const both = ['--key', keyFile(1), '--key', keyFile(2)];
  expect((await offline('recover', 'check', ...both, '--peers', recovery.peersFile, file)).code).toBe(2);
  expect((await offline('recover', 'check', '--key', keyFile(1), '--peers', recovery.peersFile)).code).toBe(2);
  expect((await check(1, [])).code).toBe(1);
});
