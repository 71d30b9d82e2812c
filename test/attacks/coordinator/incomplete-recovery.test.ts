/**
 * Attack: the coordinator leaves a key of the vault out of an export, or passes a package that is
 *   sealed for a mistyped recovery key, so that the backup passes the check without the funds.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: N2
 * Defence: the operator names the addresses of the vault and the recovery key of each co-signer,
 *   and the check compares both with each package.
 */
import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealForRecovery } from '#mpc/recovery/package.ts';
import type { Recovery } from '../recovery-scene.ts';
import { addressesIn, addressOf, CHAIN, startRecovery } from '../recovery-scene.ts';

let recovery: Recovery;
beforeAll(async () => {
  recovery = await startRecovery(3, 2);
});
afterAll(() => recovery.stop());

const expectedKeys = () =>
  recovery.recoveryKeys.flatMap((recoveryKey, i) => ['--recovery-key', `${i + 1}=${recoveryKey}`]);
const addresses = (...all: readonly string[]) => [
  '--chain',
  CHAIN,
  ...all.flatMap((address) => ['--address', address]),
];

test('an export without a key of the vault does not pass', async () => {
  const [first, second] = [recovery.deal(), recovery.deal()];
  const both = addresses(addressOf(first), addressOf(second));
  const whole = await recovery.file([...(await recovery.exported(first)), ...(await recovery.exported(second))]);
  expect((await recovery.verify(...both, whole)).code).toBe(0);
  const part = await recovery.file(await recovery.exported(first));
  const verified = await recovery.verify(...both, part);
  expect(verified).toMatchObject({ code: 1, output: '' });
  expect(verified.errors).toContain(`${addressOf(second)}: no key`);
  const opened = await recovery.open(...addresses(addressOf(second)).slice(2), part);
  expect([opened.code, addressesIn(opened.output)]).toEqual([1, [addressOf(first)]]);
  // Without addresses the answer says that they were not compared.
  expect((await recovery.verify(part)).output).toContain('Addresses were not compared');
});

test('a package that is sealed for another recovery key does not pass', async () => {
  const dealt = recovery.deal();
  const [first, second, third] = await recovery.exported(dealt);
  const other = bytesToHex(x25519.keygen().publicKey);
  const mistyped = recovery.signed(await sealForRecovery(other, recovery.shareOf(dealt, 2)));
  const file = await recovery.file([first, mistyped, third]);
  const verified = await recovery.verify(...expectedKeys(), file);
  expect(verified).toMatchObject({ code: 1, output: '' });
  expect(verified.errors).toContain(`${mistyped.keyId}, co-signer 2: sealed for another recovery key`);
  expect((await recovery.verify(file)).output).toContain('Recovery keys were not compared');
  const right = await recovery.file([first, second, third]);
  const good = await recovery.verify(...expectedKeys(), right);
  expect([good.code, good.output.includes('were not compared')]).toEqual([0, true]);
  expect(good.output).not.toContain('Recovery keys were not compared');
});

test('a recovery key of small order does not pass', async () => {
  const dealt = recovery.deal();
  const honest = await recovery.exported(dealt);
  // Its shared secret is zero for every ephemeral key, so no seal with it can be made or opened.
  const small = `01${'00'.repeat(31)}`;
  const packages = honest.map((one) => (one.node === 2 ? recovery.signed({ ...one, recoveryKey: small }) : one));
  const verified = await recovery.verify(await recovery.file(packages));
  expect(verified).toMatchObject({ code: 1, output: '' });
  expect(verified.errors).toContain('co-signer 2: the recovery key has a small order');
});
