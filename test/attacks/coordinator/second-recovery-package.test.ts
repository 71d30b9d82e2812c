/**
 * Attack: the coordinator adds a second package of a co-signer to an export, which it seals itself,
 *   so that the backup passes the check and rebuilds nothing.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: N2
 * Defence: the check refuses two packages of one co-signer for one key, and a signed package is
 *   opened before one that is not signed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sealForRecovery } from '#mpc/recovery/package.ts';
import { party } from '../../mpc/dealt-key.ts';
import type { Recovery } from '../recovery-scene.ts';
import { addressesIn, addressOf, startRecovery } from '../recovery-scene.ts';

let recovery: Recovery;
beforeAll(async () => {
  recovery = await startRecovery(4, 3);
});
afterAll(() => recovery.stop());

test('a second, unsigned package of a co-signer does not pass, and takes nothing from the signed ones', async () => {
  const dealt = recovery.deal();
  const honest = await recovery.exported(dealt);
  const other = recovery.deal();
  // The coordinator knows all public data of the key, and names the point of a share of its choice.
  const publicShares = new Map(dealt.publicShares).set(party(1), other.publicShares.get(party(1)) ?? new Uint8Array());
  const { secret } = recovery.shareOf(other, 1);
  const foreign = { ...recovery.shareOf(dealt, 1), secret, publicShares };
  const junk = { ...(await sealForRecovery(recovery.recoveryKeys[0] ?? '', foreign)), signature: '00'.repeat(64) };
  for (const packages of [
    [...honest, junk],
    [junk, ...honest],
  ]) {
    const file = await recovery.file(packages);
    const verified = await recovery.verify(file);
    expect(verified).toMatchObject({ code: 1, output: '' });
    expect(verified.errors).toContain(`${junk.keyId}, co-signer 1: 2 packages`);
    const opened = await recovery.open(file);
    expect([opened.code, addressesIn(opened.output)]).toEqual([0, [addressOf(dealt)]]);
    expect(opened.errors).toContain('co-signer 1: not-signed-by-the-co-signer');
  }
});

test('the same package twice is refused as well', async () => {
  const honest = await recovery.exported(recovery.deal());
  const file = await recovery.file(honest);
  expect((await recovery.verify(file)).code).toBe(0);
  expect(await recovery.verify(file, file)).toMatchObject({ code: 1, output: '' });
});
