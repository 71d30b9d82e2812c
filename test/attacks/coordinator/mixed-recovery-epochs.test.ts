/**
 * Attack: the coordinator mixes packages from before and after a refresh of the shares in one
 *   export. Each is genuine, and no group of them rebuilds the key.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: N2
 * Defence: all packages of a key state one epoch, threshold, public key and set of public shares.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Recovery } from '../recovery-scene.ts';
import { addressesIn, addressOf, startRecovery } from '../recovery-scene.ts';

let recovery: Recovery;
beforeAll(async () => {
  recovery = await startRecovery(4, 3);
});
afterAll(() => recovery.stop());

test('an export with packages of two epochs does not pass', async () => {
  const dealt = recovery.deal();
  const [before, after] = [
    await recovery.exported(dealt, 1),
    await recovery.exported(recovery.deal(dealt.secretKey), 2),
  ];
  const mixed = await recovery.file([...before.slice(0, 2), ...after.slice(2)]);
  const verified = await recovery.verify(mixed);
  expect(verified).toMatchObject({ code: 1, output: '' });
  expect(verified.errors).toMatch(/co-signer [12]: states another epoch/);
  expect(verified.errors).toContain('2 co-signers signed the same terms, but 3 are required');
  expect(await recovery.open(mixed)).toMatchObject({ code: 1, output: '[]\n' });
  // The packages of each epoch rebuild the key, also when the operator names both files.
  for (const packages of [before, after]) expect((await recovery.verify(await recovery.file(packages))).code).toBe(0);
  const both = await recovery.open(await recovery.file(before), await recovery.file(after));
  expect([both.code, addressesIn(both.output)]).toEqual([0, [addressOf(dealt)]]);
});
