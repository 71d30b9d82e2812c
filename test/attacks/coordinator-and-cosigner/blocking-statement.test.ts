/**
 * Attack: a hostile co-signer states another policy than the one in force, so that no device signs
 *   any more.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 2.7
 * Defence: t agreeing co-signers prove the policy, so the device signs once the person has named
 *   the co-signer that does not agree.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { generateKey } from '../../cosigner/key/generate-key.ts';
import { byDevice, founded } from '../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { startCosigners } from '../../cosigner/cosigners.ts';
import { successor } from '../../devices/policy-links-scene.ts';
import { decisionOn, liar, pinsOf, showTo, signer, stricter } from '../statement-scene.ts';

let cosigners: Cosigners;
let keyId: string;
let pins: readonly CosignerPin[];
const first: Policy = { ...byDevice, signingThreshold: 3 };
const change = stricter(first);
const current = change.policy;

beforeAll(async () => {
  cosigners = await startCosigners(4);
  pins = await pinsOf(cosigners);
  const policies = [founded(first)];
  const made = await generateKey(cosigners.all, { scheme: 'ecdsa-secp256k1', policies });
  if (!made.ok) throw new Error(made.refusal.reason);
  keyId = made.value.keyId;
  await showTo(cosigners.some(1, 2, 3), [founded(first), change]);
});
afterAll(() => cosigners.stop());

/**
 * Returns the decisions of alice's device when hostile co-signer 4 states this policy and the three
 * others are honest.
 */
async function whenFourthStates(states: Policy) {
  const alice = signer(pins, { keyId, policy: current });
  const verdicts = await alice.request([...cosigners.some(1, 2, 3), liar(cosigners, 4, { keyId, states })]);
  const decided = (threshold: number) => decisionOn(verdicts, { policies: [first, current], threshold });
  return { ofThree: decided(3), ofFour: decided(4) };
}

test('one hostile co-signer of 3 of 4 blocks no approval, whatever it states', async () => {
  const states: readonly (readonly [Policy, string])[] = [
    [first, '4:behind'],
    [successor(first, { threshold: 1 }), '4:other-history'],
    [successor(current), '4:later-version'],
  ];
  for (const [policy, named] of states) {
    expect(await whenFourthStates(policy)).toEqual({ ofThree: [named], ofFour: 'too-few-agree' });
  }
});

test('a statement that the coordinator omits blocks no approval, and the device names its co-signer', async () => {
  const alice = signer(pins, { keyId, policy: current });
  const verdicts = await alice.request(cosigners.some(1, 2, 3));
  expect(decisionOn(verdicts, { policies: [first, current], threshold: 3 })).toEqual(['4:unknown']);
});
