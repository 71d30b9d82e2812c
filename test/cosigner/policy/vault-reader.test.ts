import { expect, test } from 'vitest';
import type { VaultAnswer } from '#cosigner/policy/vault-reader.ts';
import { answerFor, VaultReader } from '#cosigner/policy/vault-reader.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { policy } from '../../domain/cast.ts';
import { pinnedPolicies } from '../vault-scene.ts';

/** Covers which policies are copied between the object of a vault and its keys. */

const next = { ...policy, version: policy.version + 1, previousHash: policyHashOf(policy) };

function sceneOf() {
  const vault = pinnedPolicies(policy);
  const answers: (VaultAnswer | null)[] = [];
  const reader = new VaultReader(() => ({
    policies: async (version, known) => {
      const view = vault.view(version);
      // A call between objects copies what it returns.
      const answer = view === null ? null : structuredClone(answerFor(view, known));
      answers.push(answer);
      return answer;
    },
    pin: async (head) => vault.pin(head),
  }));
  const copied = () =>
    answers.map((answer) => [answer?.current, answer?.named].map((copy) => copy?.policy?.version ?? null));
  return { vault, reader, copied };
}

test('a policy is copied once, and later reads return the same object', async () => {
  const { reader, copied } = sceneOf();
  const first = await reader.policies(null);
  const second = await reader.policies(policy.version);
  expect(first).toEqual({ current: policy, named: policy, isPinned: true });
  expect([second?.current, second?.named]).toEqual([policy, policy]);
  expect(second?.current).toBe(first?.current);
  expect(copied()).toEqual([
    [1, 1],
    [null, null],
  ]);
});

test('a key is bound by a policy that was adopted between two reads', async () => {
  const { vault, reader, copied } = sceneOf();
  await reader.policies(policy.version);
  vault.adopt([next]);
  expect(await reader.policies(policy.version)).toEqual({ current: next, named: policy, isPinned: true });
  expect(await reader.policies(9)).toEqual({ current: next, named: null, isPinned: true });
  expect(copied()).toEqual([
    [1, 1],
    [2, null],
    [null, null],
  ]);
  // The earlier policy was not in the last answer, so it is copied again.
  expect((await reader.policies(policy.version))?.named).toEqual(policy);
});

test('simultaneous reads each resolve what they requested', async () => {
  const { vault, reader } = sceneOf();
  await reader.policies(null);
  const before = reader.policies(policy.version);
  vault.adopt([next]);
  const views = await Promise.all([before, reader.policies(null), reader.policies(policy.version)]);
  expect(views.map((view) => view?.current.version)).toEqual([1, 2, 2]);
  expect(views.at(-1)?.named).toEqual(policy);
});

test('an answer without a policy that the reader does not have is a fault, and no policy is none', async () => {
  const hash = policyHashOf(policy);
  const answers = [null, { current: { hash, policy: null }, named: null, isPinned: true }];
  const reader = new VaultReader(() => ({ policies: async () => answers.shift() ?? null, pin: async () => null }));
  expect(await reader.policies(null)).toBeNull();
  await expect(reader.policies(null)).rejects.toThrow('omitted a policy');
});
