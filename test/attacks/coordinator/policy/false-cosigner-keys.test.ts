/**
 * Attack: a policy change that signers approve for another reason pins identity keys of the
 *   attacker as the keys of the co-signers.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer adopts a policy whose co-signer keys differ from its configuration only if t
 *   other co-signers attest that they adopted it.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { newKey, startCosigners } from '../../../cosigner/cosigners.ts';
import { changeTo, first, LAPTOP, PHONE, sentTo, shownTo, attestationsOf } from '../../policy-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  await newKey(cosigners.all, { governedBy: byDevice });
}, 60_000);
afterAll(() => cosigners.stop());

const signs = [LAPTOP, PHONE];
const withKeys = (keys: readonly string[], before: Policy = byDevice): Policy => ({
  ...byDevice,
  version: before.version + 1,
  previousHash: policyHashOf(before),
  cosigners: keys.map((signing, i) => ({ index: i + 1, signing })),
});

async function keysOfNow(): Promise<readonly string[]> {
  const keys = [1, 2, 3].map(async (index) => {
    const identity = (await (await fetch(`${cosigners.originOf(index)}/identity`)).json()) as { signing: string };
    return identity.signing;
  });
  return Promise.all(keys);
}

test('no co-signer adopts false co-signer keys, whichever signers approved them', async () => {
  const [one = '', two = ''] = await keysOfNow();
  const no = ['other-cosigners', 'other-cosigners', 'other-cosigners'];
  expect(await shownTo(cosigners.all, changeTo(withKeys([one, two, '11'.repeat(32)]), signs))).toEqual(no);
  expect(await shownTo(cosigners.all, changeTo(withKeys([one, two]), signs), cosigners.all)).toEqual(no);
});

test('a co-signer that was unreachable during a key rotation catches up with the attestations of the others', async () => {
  const before = changeTo(withKeys(await keysOfNow()), signs);
  expect(await shownTo(cosigners.some(1, 2), before)).toEqual(['adopted', 'adopted']);
  await cosigners.rotateIdentity(1);
  // Co-signer 3 is reachable again. The earlier policy names a key that co-signer 1 no longer has.
  expect(await shownTo(cosigners.some(3), before)).toEqual(['other-cosigners']);
  expect(await shownTo(cosigners.some(3), before, cosigners.some(1, 3))).toEqual(['other-cosigners']);
  const after = changeTo(withKeys(await keysOfNow(), before.policy), signs);
  expect(
    await sentTo(cosigners.some(3), [first, before], await attestationsOf(cosigners.some(1, 2), [before])),
  ).toEqual(['adopted']);
  expect(await shownTo(cosigners.all, after)).toEqual(['adopted', 'adopted', 'adopted']);
}, 60_000);
