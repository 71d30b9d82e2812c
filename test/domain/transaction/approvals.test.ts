import { expect, test } from 'vitest';
import {
  requiredApprovalsNow,
  currentApprovers,
  hasApproved,
  isRepeatedDecision,
  mayCancelTransaction,
  requiredApprovalsFor,
} from '#domain/transaction/approvals.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { TransactionState } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Role } from '#domain/access/member.ts';
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

/**
 * Covers whose approvals count for a transaction, how many it requires, and which approvals it
 * already has.
 */

const lookalikeOf = '0x2222222222222222222222222222222222222223';
const poisoned = transactionIn('SUBMITTED', { intent: { ...transferIntent(), lookalikeOf } });
const plain = transactionIn('SUBMITTED');

test('only approvals of exactly this digest count, by current signers, once each', () => {
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
])('the larger of the threshold at creation, %d, and the current threshold, %d, applies', (then, now, needed) => {
  expect(requiredApprovalsFor(plain, then, { ...policy, threshold: now })).toBe(needed);
  expect(requiredApprovalsNow({ ...plain, requiredApprovals: then }, { ...policy, threshold: now })).toBe(needed);
});

test.each([
  [1, 2],
  [2, 3],
  // More approvals than signers are never required.
  [3, 3],
])(
  'a transfer to a look-alike requires one more approval, up to the number of signers: threshold %d, required %d',
  (threshold, needed) => {
    expect(requiredApprovalsFor(poisoned, 1, { ...policy, threshold })).toBe(needed);
  },
);

test('removing a signer does not lower the approvals required at creation, with or without a look-alike', () => {
  const alone = { ...policy, signers: [alice.userId], threshold: 1 };
  expect(requiredApprovalsFor(poisoned, 3, alone)).toBe(3);
});

test('a message has no recipient that could be a look-alike', () => {
  expect(requiredApprovalsFor({ ...plain, intent: messageIntent() }, 2, policy)).toBe(2);
});

const approve = (actor: Actor): TransactionEvent => ({ type: 'approve', actor, digest: DIGEST, device: null });
const reject = (actor: Actor): TransactionEvent => ({ type: 'reject', actor, device: null });
const approvals = [approvalBy(alice)];

test.each<TransactionState>(['SUBMITTED', 'SIGNING', 'BROADCAST', 'CONFIRMING', 'SUCCEEDED', 'FAILED'])(
  'a counted approval is accepted again in %s',
  (state) => {
    const transaction = transactionIn(state, { approvals });
    expect(hasApproved(transaction, alice.userId)).toBe(true);
    expect(isRepeatedDecision(transaction, approve(alice))).toBe(true);
    expect(isRepeatedDecision(transaction, approve(bob))).toBe(false);
  },
);

test.each<TransactionState>(['REJECTED', 'CANCELLED', 'EXPIRED'])(
  'an approval that %s has revoked is not a repetition',
  (state) => {
    expect(isRepeatedDecision(transactionIn(state, { approvals }), approve(alice))).toBe(false);
  },
);

test('a rejection is repeated only by the signer who gave it', () => {
  const rejected = transactionIn('REJECTED', { approvals, rejection: approvalBy(carol) });
  expect(isRepeatedDecision(rejected, reject(carol))).toBe(true);
  expect(isRepeatedDecision(rejected, reject(bob))).toBe(false);
  expect(isRepeatedDecision(rejected, approve(carol))).toBe(false);
  expect(isRepeatedDecision(transactionIn('SUBMITTED'), reject(carol))).toBe(false);
  expect(isRepeatedDecision(rejected, { type: 'cancel', actor: carol })).toBe(false);
});

test.each<[TransactionState, readonly Role[], boolean]>([
  ['SUBMITTED', ['signer'], false],
  ['SUBMITTED', ['admin'], true],
  ['SIGNING', ['signer'], true],
  ['BROADCAST', ['signer'], true],
  ['BROADCAST', ['initiator'], false],
  ['BROADCAST', ['viewer'], false],
  ['SUCCEEDED', ['signer'], false],
])('in %s a member with the roles %j can cancel a payment of another member: %s', (state, roles, may) => {
  expect(mayCancelTransaction({ userId: mallory.userId, roles }, transactionIn(state), policy)).toBe(may);
});

test('in device mode a signer cancels no payment of another member, and an admin does', () => {
  const byDevices = { approvalMode: 'device' } as const;
  const may = (roles: readonly Role[]) =>
    mayCancelTransaction({ userId: mallory.userId, roles }, transactionIn('SIGNING'), byDevices);
  expect([may(['signer']), may(['admin'])]).toEqual([false, true]);
});

test('the creator cancels an own payment with the role of an initiator, and not as a viewer', () => {
  const { userId } = transactionIn('SUBMITTED').createdBy;
  expect(mayCancelTransaction({ userId, roles: ['initiator'] }, transactionIn('SUBMITTED'), policy)).toBe(true);
  expect(mayCancelTransaction({ userId, roles: ['viewer'] }, transactionIn('SUBMITTED'), policy)).toBe(false);
});
