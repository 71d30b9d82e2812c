import { expect, test } from 'vitest';
import {
  requiredApprovalsNow,
  currentApprovers,
  hasApproved,
  isRepeatedDecision,
  requiredApprovalsFor,
} from '#domain/transaction/approvals.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Actor, TransactionState } from '#domain/transaction/transaction.ts';
import {
  alice,
  bob,
  carol,
  DIGEST,
  messageIntent,
  mallory,
  policy,
  transactionIn,
  transferIntent,
  approvalBy,
} from '../cast.ts';

/** Whose voices count for a transaction, how many it takes, and which were there already. */

const lookalikeOf = '0x2222222222222222222222222222222222222223';
const poisoned = transactionIn('SUBMITTED', { intent: { ...transferIntent(), lookalikeOf } });
const plain = transactionIn('SUBMITTED');

test('voices for exactly this count, of those who sign now, once each', () => {
  const approvals = [
    approvalBy(alice),
    approvalBy(alice),
    approvalBy(bob, 'd2'.repeat(32)),
    approvalBy(mallory),
    approvalBy(carol),
  ];
  expect(currentApprovers({ approvals, digest: plain.digest }, policy)).toEqual([alice.userId, carol.userId]);
  const without = { ...policy, signers: [alice.userId, bob.userId] };
  expect(currentApprovers({ approvals, digest: plain.digest }, without)).toEqual([alice.userId]);
});

test.each([
  [1, 1, 1],
  [1, 3, 3],
  [3, 1, 3],
  [2, 2, 2],
])('of the threshold then, %d, and the one of now, %d, the larger counts', (then, now, needed) => {
  expect(requiredApprovalsFor(plain, then, { ...policy, threshold: now })).toBe(needed);
  expect(requiredApprovalsNow({ ...plain, requiredApprovals: then }, { ...policy, threshold: now })).toBe(needed);
});

test.each([
  [1, 2],
  [2, 3],
  // All of them is all there is.
  [3, 3],
])('a transfer to a look-alike takes one voice more, as far as there are signers: of %d, %d', (threshold, needed) => {
  expect(requiredApprovalsFor(poisoned, 1, { ...policy, threshold })).toBe(needed);
});

test('whoever left does not lower what was asked for then, look-alike or not', () => {
  const alone = { ...policy, signers: [alice.userId], threshold: 1 };
  expect(requiredApprovalsFor(poisoned, 3, alone)).toBe(3);
});

test('a message has no recipient that could be a look-alike', () => {
  expect(requiredApprovalsFor({ ...plain, intent: messageIntent() }, 2, policy)).toBe(2);
});

const approve = (actor: Actor): TransactionEvent => ({ type: 'approve', actor, digest: DIGEST, device: null });
const reject = (actor: Actor): TransactionEvent => ({ type: 'reject', actor });
const approvals = [approvalBy(alice)];

test.each<TransactionState>(['SUBMITTED', 'SIGNING', 'BROADCAST', 'CONFIRMING', 'SUCCEEDED', 'FAILED'])(
  'in %s an approval that was taken is taken again',
  (state) => {
    const transaction = transactionIn(state, { approvals });
    expect(hasApproved(transaction, alice.userId)).toBe(true);
    expect(isRepeatedDecision(transaction, approve(alice))).toBe(true);
    expect(isRepeatedDecision(transaction, approve(bob))).toBe(false);
  },
);

test.each<TransactionState>(['REJECTED', 'CANCELLED', 'EXPIRED'])('what %s has undone is not repeated', (state) => {
  expect(isRepeatedDecision(transactionIn(state, { approvals }), approve(alice))).toBe(false);
});

test('a rejection is repeated by whoever gave it, and by nobody else', () => {
  const rejected = transactionIn('REJECTED', { approvals, rejection: approvalBy(carol) });
  expect(isRepeatedDecision(rejected, reject(carol))).toBe(true);
  expect(isRepeatedDecision(rejected, reject(bob))).toBe(false);
  expect(isRepeatedDecision(rejected, approve(carol))).toBe(false);
  expect(isRepeatedDecision(transactionIn('SUBMITTED'), reject(carol))).toBe(false);
  expect(isRepeatedDecision(rejected, { type: 'cancel', actor: carol })).toBe(false);
});
