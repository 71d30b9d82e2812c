/**
 * Attack: a co-signer signs a recovery package with a false header or a false share, so that the
 *   backup rebuilds nothing, or a wallet of the attacker under the key id of the vault.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: N2
 * Defence: a key id follows from its public key, only what as many co-signers state as sign
 *   together is used, and every group of shares is tried.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { sealForRecovery } from '#mpc/recovery/package.ts';
import type { KeyShare } from '#mpc/share.ts';
import type { DealtKey } from '../../mpc/dealt-key.ts';
import { dealKey, party } from '../../mpc/dealt-key.ts';
import type { Recovery } from '../recovery-scene.ts';
import { addressesIn, addressOf, startRecovery } from '../recovery-scene.ts';

let recovery: Recovery;
let dealt: DealtKey;
let honest: readonly RecoveryPackage[];
beforeAll(async () => {
  recovery = await startRecovery(4, 3);
  dealt = recovery.deal();
  honest = await recovery.exported(dealt);
});
afterAll(() => recovery.stop());

/** Seals and signs a share as the hostile co-signer 1. */
async function hostile(share: Partial<KeyShare>): Promise<RecoveryPackage> {
  return recovery.signed(
    await sealForRecovery(recovery.recoveryKeys[0] ?? '', { ...recovery.shareOf(dealt, 1), ...share }),
  );
}

/** Expects that the check names co-signer 1, and that the export rebuilds the true key. */
async function expectFound(one: RecoveryPackage, fault: string): Promise<void> {
  const file = await recovery.file([one, ...honest.slice(1)]);
  const verified = await recovery.verify(file);
  expect(verified).toMatchObject({ code: 1, output: '' });
  expect(verified.errors).toContain(`${one.keyId}, co-signer 1: ${fault}`);
  expect(verified.errors).not.toMatch(/co-signer [234]/);
  const opened = await recovery.open(file);
  expect([opened.code, addressesIn(opened.output)]).toEqual([0, [addressOf(dealt)]]);
  expect(opened.errors).toContain('co-signer 1');
}

test('a header with a threshold of one and the key of the attacker gives no wallet', async () => {
  const own = dealKey(1, [party(1)]);
  const secret = own.shares.get(party(1)) ?? recovery.shareOf(dealt, 1).secret;
  const { publicKey, publicShares } = own;
  const forged = await hostile({ threshold: 1, publicKey, publicShares, secret });
  await expectFound(forged, 'states another threshold, public key, set of public shares');
  // Even alone it is no key: its id does not follow from its public key.
  const alone = await recovery.open(await recovery.file([forged]));
  expect([alone.code, addressesIn(alone.output)]).toEqual([1, []]);
});

test('a key of the attacker alone, under its true id, does not pass', async () => {
  const own = dealKey(1, [party(1)]);
  const secret = own.shares.get(party(1)) ?? recovery.shareOf(dealt, 1).secret;
  const share = { ...recovery.shareOf(own, 1), threshold: 1, secret };
  const forged = recovery.signed(await sealForRecovery(recovery.recoveryKeys[0] ?? '', share));
  const file = await recovery.file([...honest, forged]);
  expect(await recovery.verify(file)).toMatchObject({ code: 1, output: '' });
  const opened = await recovery.open(file);
  expect([opened.code, addressesIn(opened.output)]).toEqual([1, [addressOf(dealt)]]);
  // The expected address shows which key is of the vault, so the other one changes nothing.
  expect((await recovery.open('--address', addressOf(dealt), file)).code).toBe(0);
});

test('a false share with a matching point spoils no other share', async () => {
  const other = recovery.deal();
  const { secret } = recovery.shareOf(other, 1);
  const publicShares = new Map(dealt.publicShares).set(party(1), other.publicShares.get(party(1)) ?? new Uint8Array());
  await expectFound(await hostile({ secret, publicShares }), 'states another set of public shares');
});

test('a false share in a true header is named when it is opened', async () => {
  const { secret } = recovery.shareOf(recovery.deal(), 1);
  const forged = await hostile({ secret });
  const opened = await recovery.open(await recovery.file([forged, ...honest.slice(1)]));
  expect([opened.code, addressesIn(opened.output)]).toEqual([0, [addressOf(dealt)]]);
  expect(opened.errors).toContain('co-signer 1: not-its-public-share');
});

test('a package that is no package blocks no other one', async () => {
  const broken = { ...honest[0], ciphertext: '00', '\u001b[2J': 1 };
  const file = await recovery.file([broken, ...honest.slice(1)]);
  const verified = await recovery.verify(file);
  expect(verified).toMatchObject({ code: 1, output: '' });
  expect(verified.errors).toContain('package 1');
  const opened = await recovery.open(file);
  expect([opened.code, addressesIn(opened.output)]).toEqual([0, [addressOf(dealt)]]);
  expect(opened.errors).toContain('package 1');
  expect(opened.errors).not.toContain('\u001b');
});
