import { expect, test } from 'vitest';
import {
  MAX_OPERATOR_PENDING_CHANGES,
  MAX_OWN_PENDING_CHANGES,
  MAX_PENDING_CHANGES,
  slotRefusal,
} from '#domain/policy/pending-changes.ts';
import type { Actor } from '#domain/access/approval.ts';
import { maxOwnPending } from '#domain/vault/vault.ts';
import { actor, alice, bob, carol, mallory, policy } from '../cast.ts';

/** Covers how many pending changes and transactions one person and one vault have. */

const VAULT_IS_FULL = { code: 'too-many-policy-changes', limit: MAX_PENDING_CHANGES };
const OPERATORS_ARE_FULL = { code: 'too-many-policy-changes', limit: MAX_OPERATOR_PENDING_CHANGES };
const PERSON_IS_FULL = { code: 'too-many-own-policy-changes', limit: MAX_OWN_PENDING_CHANGES };

/** Returns a change of this creator that removes these signers; null stands for an operator. */
const change = (createdBy: Actor | null, ...removed: readonly Actor[]) => {
  const gone = removed.map(({ userId }) => userId);
  return { createdBy, policy: { ...policy, signers: policy.signers.filter((signer) => !gone.includes(signer)) } };
};
const renewal = (createdBy: Actor) => ({ ...change(createdBy), renewsVersion: 2 });
const times = <T>(n: number, one: (i: number) => T) => Array.from({ length: n }, (_, i) => one(i));
const refusal = (pending: Parameters<typeof slotRefusal>[0], candidate: Parameters<typeof slotRefusal>[1]) =>
  slotRefusal(pending, candidate, policy);

test('a person has two pending changes, renewals included, and others have theirs', () => {
  expect(refusal([change(alice)], change(alice))).toBeNull();
  expect(refusal([change(alice)], renewal(alice))).toBeNull();
  expect(refusal([change(alice), renewal(alice)], change(alice))).toEqual(PERSON_IS_FULL);
  expect(refusal([change(alice), change(alice)], renewal(alice))).toEqual(PERSON_IS_FULL);
  expect(refusal([change(alice), change(alice)], change(bob))).toBeNull();
});

test('a vault has ten pending changes and ten renewals', () => {
  const changes = times(10, (i) => change(actor(20 + i)));
  expect(refusal(changes.slice(1), change(alice))).toBeNull();
  expect(refusal(changes, change(alice))).toEqual(VAULT_IS_FULL);
  expect(refusal(changes, renewal(alice))).toBeNull();
  const renewals = times(10, (i) => renewal(actor(20 + i)));
  expect(refusal(renewals, renewal(alice))).toEqual(VAULT_IS_FULL);
  expect(refusal(renewals, change(alice))).toBeNull();
});

test('operators have two slots of their own, whatever the members have proposed', () => {
  const members = times(10, (i) => change(actor(20 + i)));
  expect(refusal([...members, change(null)], change(null))).toBeNull();
  expect(refusal([change(null), change(null)], change(null))).toEqual(OPERATORS_ARE_FULL);
  expect(refusal([change(null), change(null)], change(null, bob))).toBeNull();
  // The founding of a vault and a renewal by the service are not theirs.
  expect(refusal([{ ...change(null), renewsVersion: 1 }, change(null)], change(null))).toBeNull();
});

test('the proposals of operators leave every slot of the members', () => {
  const operators = [change(null), change(null), change(null, bob)];
  const members = times(9, (i) => change(actor(20 + i)));
  expect(refusal([...operators, ...members], change(alice))).toBeNull();
  expect(refusal([...operators, ...members, change(bob)], change(alice))).toEqual(VAULT_IS_FULL);
});

test('the first change of a person that removes a signer is accepted in a full queue', () => {
  const full = [...times(10, (i) => change(actor(20 + i))), change(alice), change(alice)];
  expect(refusal(full, change(alice))).not.toBeNull();
  expect(refusal(full, change(alice, bob))).toBeNull();
  expect(refusal([...full, change(alice, bob)], change(alice, carol))).toBeNull();
  expect(refusal([...full, change(mallory, bob)], change(alice, bob))).toBeNull();
});

test('a further change that removes the same signers needs a slot', () => {
  const own = [change(alice, bob), change(alice), change(alice)];
  expect(refusal(own, change(alice, bob))).toEqual(PERSON_IS_FULL);
  expect(refusal([change(alice, bob), change(alice)], change(alice, bob))).toBeNull();
  expect(refusal([...own, change(alice, carol)], change(alice, bob, carol))).toEqual(PERSON_IS_FULL);
  expect(refusal(own, change(alice, bob, carol))).toBeNull();
});

test('removals of one person leave as much room to others as before', () => {
  const removals = [change(mallory, alice), change(mallory, bob), change(mallory, carol)];
  const others = times(9, (i) => change(actor(20 + i)));
  expect(refusal([...removals, ...others], change(alice))).toBeNull();
  expect(refusal([...removals, ...others, change(bob)], change(alice))).toEqual(VAULT_IS_FULL);
});

test('the removals of one person are at most as many as the signers', () => {
  const all = [alice, bob, carol];
  const removedSets = times(7, (i) => all.filter((_, bit) => ((i + 1) & (1 << bit)) !== 0));
  let pending = [change(mallory), change(mallory)];
  for (const removed of removedSets) {
    const candidate = change(mallory, ...removed);
    if (refusal(pending, candidate) === null) pending = [...pending, candidate];
  }
  expect(pending.length - 2).toBeLessThanOrEqual(policy.signers.length);
});

test('a signer of another policy takes no slot from the rule for removals', () => {
  // Mallory is not a signer, so a policy without mallory removes no signer.
  expect(refusal([change(alice), change(alice)], change(alice, mallory))).toEqual(PERSON_IS_FULL);
});

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [100, 50],
])('of %d pending transactions one person creates at most %d', (mostPending, limit) => {
  expect(maxOwnPending({ mostPending })).toBe(limit);
});
