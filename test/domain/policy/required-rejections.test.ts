import { expect, test } from 'vitest';
import type { Actor } from '#domain/access/approval.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyFault } from '#domain/policy/policy.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { isRepeatedDecision } from '#domain/transaction/approvals.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { alice, bob, carol, DIGEST, mallory, NOON_MS, policy, transactionIn, UNSPENT } from '../cast.ts';

/** Covers the number of signers whose rejections end a transaction. */

const byTwo: Policy = { ...policy, rules: { ...NO_RULES, rejections: 2 } };
const rejects = (actor: Actor): TransactionEvent => ({ type: 'reject', device: null, actor });
const approves = (actor: Actor): TransactionEvent => ({ type: 'approve', device: null, actor, digest: DIGEST });

/** Returns a pending transaction after these events. */
function after(events: readonly TransactionEvent[], inForce: Policy = byTwo): Transaction {
  let transaction = transactionIn('SUBMITTED');
  for (const event of events) {
    const decided = decide(transaction, event, { nowMs: NOON_MS, policy: inForce, spentOf: UNSPENT });
    if (!decided.ok) throw new Error(decided.refusal.code);
    ({ transaction } = decided.value);
  }
  return transaction;
}

const decisionsOf = ({ state, approvals, openRejections = [], rejection }: Transaction) => ({
  state,
  approvals: approvals.map(({ actor }) => actor),
  open: openRejections.map(({ actor }) => actor),
  by: rejection?.actor ?? null,
});

test('one rejection of two that are required leaves the transaction pending, and the second one ends it', () => {
  expect(decisionsOf(after([rejects(alice)]))).toEqual({ state: 'SUBMITTED', approvals: [], open: [alice], by: null });
  const ended = decisionsOf(after([rejects(alice), rejects(bob)]));
  expect(ended).toEqual({ state: 'REJECTED', approvals: [], open: [alice], by: bob });
  expect(decisionsOf(after([rejects(alice)], policy))).toMatchObject({ state: 'REJECTED', by: alice });
});

test('a repeated rejection counts once', () => {
  const once = after([rejects(alice)]);
  expect(after([rejects(alice), rejects(alice)])).toEqual(once);
  expect(isRepeatedDecision(once, rejects(alice))).toBe(true);
  expect(isRepeatedDecision(once, rejects(bob))).toBe(false);
});

test('the last decision of a signer counts', () => {
  expect(decisionsOf(after([approves(alice), rejects(alice)]))).toMatchObject({ approvals: [], open: [alice] });
  expect(decisionsOf(after([rejects(alice), approves(alice)]))).toMatchObject({ approvals: [alice], open: [] });
  const paid = decisionsOf(after([rejects(carol), approves(alice), approves(bob)]));
  expect(paid).toMatchObject({ state: 'SIGNING', approvals: [alice, bob], open: [carol] });
  expect(decisionsOf(after([rejects(alice), approves(bob), approves(alice)]))).toMatchObject({
    state: 'SIGNING',
    open: [],
  });
});

test('a rejection stops counting when its signer leaves or is disabled', () => {
  const open = after([rejects(alice), approves(bob)]);
  const without: Policy = { ...byTwo, signers: [bob.userId, carol.userId, mallory.userId] };
  const next = decide(open, rejects(carol), { nowMs: NOON_MS, policy: without, spentOf: UNSPENT });
  expect(next.ok && decisionsOf(next.value.transaction)).toMatchObject({ state: 'SUBMITTED', open: [carol] });
  const disabling = { userId: alice.userId, tokenId: null, disabledBy: null, disabledAtMs: NOON_MS, untilMs: null };
  const dropped = after([rejects(alice), { type: 'dropVotes', policy: byTwo, disabledAccess: [disabling] }]);
  expect(decisionsOf(dropped)).toMatchObject({ open: [] });
});

test.each([
  [0, 'rejections-out-of-range'],
  [1, null],
  [3, null],
  [4, 'rejections-out-of-range'],
  [1.5, 'rejections-out-of-range'],
] as const)('a policy of three signers that requires %d rejections: %s', (rejections, fault) => {
  expect(policyFault({ ...policy, rules: { ...NO_RULES, rejections } })).toBe(fault);
});

test('the excluded users are in order, once each, and no signers', () => {
  const excluding = (...excluded: readonly Actor[]) =>
    policyFault({ ...policy, rules: { ...NO_RULES, excludedMembers: excluded.map(({ userId }) => userId) } });
  expect(excluding(mallory)).toBeNull();
  expect(excluding(mallory, mallory)).toBe('rules-not-in-order');
  expect(excluding(bob)).toBe('excluded-signer');
});
