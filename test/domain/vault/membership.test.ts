import { expect, test } from 'vitest';
import type { Vault } from '#domain/vault/vault.ts';
import { nextPolicy } from '#domain/vault/next-policy.ts';
import { MAX_MEMBERS, withMember, withPolicy } from '#domain/vault/membership.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { alice, bob, BY_TOKEN, carol, mallory } from '../cast.ts';
import { treasury as vault, value } from './treasury.ts';

test('a new vault has policy version 1 with its signers in order', () => {
  expect(vault.policy).toMatchObject({
    version: 1,
    threshold: 2,
    ...BY_TOKEN,
    signers: [alice, bob, carol].map((one) => one.userId),
  });
});

test('adding or removing a viewer makes no new policy', () => {
  const withViewer = value(withMember(vault, mallory.userId, ['viewer']));
  expect(withViewer.members).toHaveLength(4);
  expect(withViewer.policy).toEqual(vault.policy);
  expect(value(withMember(withViewer, mallory.userId, [])).members).toHaveLength(3);
});

test('the same roles in another order change nothing', () => {
  const admin = value(withMember(vault, carol.userId, ['signer', 'admin']));
  expect(value(withMember(admin, carol.userId, ['admin', 'signer']))).toBe(admin);
  expect(value(withMember(vault, mallory.userId, []))).toBe(vault);
});

test('a vault has at most 200 members, and the roles of a full one still change', () => {
  const viewers = Array.from({ length: MAX_MEMBERS - vault.members.length }, () => ({
    ...bob,
    roles: ['viewer' as const],
  }));
  const full = { ...vault, members: [...vault.members, ...viewers] };
  expect(withMember(full, mallory.userId, ['viewer'])).toEqual({ ok: false, refusal: 'too-many-members' });
  expect(withMember(full, carol.userId, ['signer', 'admin']).ok).toBe(true);
});

test('a change of the members cannot change the signers', () => {
  const refusal = { ok: false, refusal: 'needs-quorum' };
  expect(withMember(vault, mallory.userId, ['signer'])).toEqual(refusal);
  expect(withMember(vault, carol.userId, ['viewer'])).toEqual(refusal);
  expect(withMember(vault, carol.userId, [])).toEqual(refusal);
  expect(value(withMember(vault, carol.userId, ['signer', 'admin'])).policy).toEqual(vault.policy);
});

function next(from: Vault, patch: Parameters<typeof nextPolicy>[1]) {
  const policy = nextPolicy(from, patch, policyHashOf(from.policy));
  if (!policy.ok) throw new Error(policy.refusal);
  return withPolicy(from, policy.value);
}

test('a change of the signers or of the threshold makes a policy version that names its predecessor', () => {
  const everyone = [alice, bob, carol, mallory].map(({ userId }) => userId);
  const four = next(vault, { signers: everyone.toReversed(), rules: {} });
  expect(four.policy).toMatchObject({ version: 2, signers: everyone, previousHash: policyHashOf(vault.policy) });
  expect(four.members.at(-1)).toEqual({ userId: mallory.userId, roles: ['signer'] });
  const three = next(four, { threshold: 3, rules: {} });
  expect(three.policy).toMatchObject({ version: 3, threshold: 3, previousHash: policyHashOf(four.policy) });
});

test('a removed signer keeps other roles, and leaves the vault if there are none', () => {
  const admin = value(withMember(vault, carol.userId, ['signer', 'admin']));
  const two = next(admin, { signers: [alice.userId], threshold: 1, rules: {} });
  expect(two.members).toEqual([
    { userId: alice.userId, roles: ['signer'] },
    { userId: carol.userId, roles: ['admin'] },
  ]);
});

test('a vault cannot lose so many signers that its threshold is out of reach', () => {
  const one = { signers: [alice.userId], rules: {} };
  expect(nextPolicy(vault, one, policyHashOf(vault.policy))).toEqual({ ok: false, refusal: 'threshold-out-of-range' });
  expect(nextPolicy(vault, { threshold: 4, rules: {} }, policyHashOf(vault.policy))).toEqual({
    ok: false,
    refusal: 'threshold-out-of-range',
  });
  expect(nextPolicy(vault, { signers: [alice.userId, alice.userId], rules: {} }, policyHashOf(vault.policy)).ok).toBe(
    false,
  );
});
