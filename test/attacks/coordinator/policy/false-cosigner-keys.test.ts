/**
 * Attack: a policy change that signers approve for another reason pins identity keys of the
 *   attacker as the keys of the co-signers.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer adopts a policy whose co-signer keys differ from its configuration only if t
 *   other co-signers attest that they adopted it.
 */
import { expect, test } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import { attestationsOf, changeTo, first, LAPTOP, PHONE, policyScene, sentTo, shownTo } from '../../policy-scene.ts';

const scene = policyScene(byDevice);

const signs = [LAPTOP, PHONE];
const withKeys = (keys: readonly string[], before: Policy = byDevice): Policy => ({
  ...byDevice,
  version: before.version + 1,
  previousHash: policyHashOf(before),
  cosigners: keys.map((signing, i) => ({ index: i + 1, signing })),
});

async function keysOfNow(): Promise<readonly string[]> {
  const keys = [1, 2, 3].map(async (index) => {
    const identity = (await (await fetch(`${scene.cosigners.originOf(index)}/identity`)).json()) as { signing: string };
    return identity.signing;
  });
  return Promise.all(keys);
}

test('no co-signer adopts false co-signer keys, whichever signers approved them', async () => {
  const [one = '', two = ''] = await keysOfNow();
  const no = ['other-cosigners', 'other-cosigners', 'other-cosigners'];
  expect(await shownTo(scene.cosigners.all, changeTo(withKeys([one, two, '11'.repeat(32)]), signs))).toEqual(no);
  expect(await shownTo(scene.cosigners.all, changeTo(withKeys([one, two]), signs), scene.cosigners.all)).toEqual(no);
});

test('a co-signer that was unreachable during a key rotation catches up with the attestations of the others', async () => {
  const before = changeTo(withKeys(await keysOfNow()), signs);
  expect(await shownTo(scene.cosigners.some(1, 2), before)).toEqual(['adopted', 'adopted']);
  await scene.cosigners.rotateIdentity(1);
  // Co-signer 3 is reachable again. The earlier policy names a key that co-signer 1 no longer has.
  expect(await shownTo(scene.cosigners.some(3), before)).toEqual(['other-cosigners']);
  expect(await shownTo(scene.cosigners.some(3), before, scene.cosigners.some(1, 3))).toEqual(['other-cosigners']);
  const after = changeTo(withKeys(await keysOfNow(), before.policy), signs);
  expect(
    await sentTo(scene.cosigners.some(3), [first, before], await attestationsOf(scene.cosigners.some(1, 2), [before])),
  ).toEqual(['adopted']);
  expect(await shownTo(scene.cosigners.all, after)).toEqual(['adopted', 'adopted', 'adopted']);
});
