/**
 * Attack: a co-signer that lost its storage joins one key under the policy from before a
 *   revocation.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer joins a key only under all policies that it has adopted for the vault
 *   under any key.
 */
import { nameOf } from '#devices/policy-succession.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { KeyRefresh } from '#domain/vault/vault.ts';
import { nextRefreshStep } from '#jobs/keys/refresh-key.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { sourceOf } from '../../../cosigner/policy-source.ts';
import { opening } from '../../../cosigner/rejected-requests.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { startCosigners } from '../../../cosigner/cosigners.ts';
import { broughtPolicies } from '../../../cosigner/key/refresh-scene.ts';
import { changeTo, first, LAPTOP, PHONE, revoked, sentTo, shownTo, attestationsOf } from '../../policy-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

const change = changeTo(revoked, [LAPTOP, PHONE]);

async function newKey() {
  const made = await generateKey(cosigners.all, { scheme: 'frost-ed25519', policies: [first] });
  if (!made.ok) throw new Error(made.refusal.reason);
  return made.value;
}

type Key = Awaited<ReturnType<typeof newKey>>;

/** Refreshes a key for all co-signers. */
async function refreshed(key: Key, policies: readonly AdoptedPolicy[]): Promise<void> {
  let refresh: KeyRefresh = { keyId: key.keyId, scheme: key.scheme, requestId: 'one', begun: null, provenBy: [] };
  for (;;) {
    const request = { key: { ...key, addresses: {} }, policies: sourceOf(...policies) };
    const step = await nextRefreshStep(cosigners.all, request, refresh);
    if (!step.ok && broughtPolicies(step.refusal.reason)) continue;
    if (!step.ok) throw new Error(step.refusal.reason);
    if (step.value.type === 'refreshed') return;
    ({ refresh } = step.value);
  }
}

/** Returns the answer of co-signer 3 to a request to join a key under this policy. */
async function joins({ keyId, scheme, publicKey, publicShares }: Key, policy: Policy) {
  const epochs = { baseEpoch: 1, epoch: 2, dealers: [1, 2] };
  const body = { scheme, publicKey, publicShares, ...epochs, policy: nameOf(policy) };
  const [third] = cosigners.some(3);
  const answer = await third?.call(`reshare/${keyId}/open`, opening(body));
  return answer?.ok === true ? 'opened' : answer?.refusal.code;
}

test('a co-signer that has joined one key of a vault joins no other key under the policies from before a revocation', async () => {
  const [one, other] = [await newKey(), await newKey()];
  const versionOne = await attestationsOf(cosigners.some(1, 2), [first]);
  expect(await shownTo(cosigners.all, change)).toEqual(['adopted', 'adopted', 'adopted']);
  await cosigners.replace(3);
  // Co-signer 3 has no policies yet, and both other co-signers adopted version 1.
  expect(await sentTo(cosigners.some(3), [first], versionOne)).toEqual(['adopted']);
  expect(await joins(other, first.policy)).toBe('opened');
  await refreshed(one, [first, change]);
  expect(await joins(other, first.policy)).toBe('policy-ahead');
  expect(await sentTo(cosigners.some(3), [first], versionOne)).toEqual(['adopted']);
  expect(await joins(other, first.policy)).toBe('policy-ahead');
  expect(await joins(other, change.policy)).toBe('opened');
});
