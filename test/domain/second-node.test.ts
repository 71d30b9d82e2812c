import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/event.ts';
import { outstandingJob } from '#domain/job.ts';
import { SECOND_NODE_TIMEOUT_MS } from '#domain/second-node.ts';
import type { SecondNode, Transaction } from '#domain/transaction.ts';
import { decide } from '#domain/transition.ts';
import { inclusion, NOON_MS, policy, transactionIn, UNSPENT } from './cast.ts';
import { cancellation, sentWith } from './step.ts';

/** An inclusion that is deep enough, and what a second RPC node says of it. */

function after(transaction: Transaction, event: TransactionEvent, nowMs = NOON_MS): Transaction {
  const decided = decide(transaction, event, { nowMs, policy, spentOf: UNSPENT });
  if (!decided.ok) throw new Error(decided.refusal.code);
  return decided.value.transaction;
}

const found = (
  secondNode: SecondNode | null,
  { succeeded = true, confirmations = 3, finalized = false } = {},
): TransactionEvent => ({
  type: 'include',
  inclusion: inclusion({ succeeded, confirmations, finalized, ...(secondNode === null ? {} : { secondNode }) }),
  confirmationsNeeded: 3,
});

const stand = ({ state, stateReason }: Transaction) => [state, stateReason];
const sent = () => transactionIn('BROADCAST');
const LATER_MS = NOON_MS + SECOND_NODE_TIMEOUT_MS;

test('one node alone, or two that agree, end it at once', () => {
  for (const second of [null, 'agrees'] as const) {
    expect(stand(after(sent(), found(second)))).toEqual(['SUCCEEDED', null]);
    expect(stand(after(sent(), found(second, { succeeded: false })))).toEqual(['FAILED', 'REVERTED']);
  }
});

test('a second node that is away holds a payment up for its time, and the record says on whose word it succeeded', () => {
  const waiting = after(sent(), found('away'));
  expect(stand(waiting)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(outstandingJob(waiting)).toBe('confirm');
  const deeper = found('away', { confirmations: 50 });
  // It says nothing new, so that the record looks as stuck as it is.
  expect(after(waiting, deeper, LATER_MS - 1)).toBe(waiting);
  const done = after(waiting, deeper, LATER_MS);
  expect(stand(done)).toEqual(['SUCCEEDED', 'CONFIRMED_BY_ONE_NODE']);
  // The second node is back.
  expect(after(done, found('away', { confirmations: 60 }), LATER_MS)).toBe(done);
  expect(stand(after(done, found('agrees', { confirmations: 60 }), LATER_MS))).toEqual(['SUCCEEDED', null]);
  // It is not, and the block is final.
  const final = after(done, found('away', { confirmations: 90, finalized: true }), LATER_MS + 1);
  expect([...stand(final), outstandingJob(final)]).toEqual(['SUCCEEDED', 'CONFIRMED_BY_ONE_NODE', 'settle']);
});

test('that nothing was paid is never believed of one node, however long the other one is away', () => {
  const reverted = found('away', { succeeded: false });
  const waiting = after(sent(), reverted);
  expect(after(waiting, reverted, LATER_MS * 2)).toBe(waiting);
  expect(stand(after(waiting, found('agrees', { succeeded: false })))).toEqual(['FAILED', 'REVERTED']);
  const cancelling = transactionIn('BROADCAST', {
    cancelling: true,
    attempts: [sentWith('accepted', cancellation)],
  });
  const undone = after(cancelling, found('away'));
  expect(stand(undone)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(after(undone, found('away'), LATER_MS * 2)).toBe(undone);
  expect(stand(after(undone, found('agrees')))).toEqual(['CANCELLED', 'CANCELLED_ON_CHAIN']);
});

test('nodes that disagree end nothing for as long as they do, and the time of one that is away begins anew', () => {
  const disputed = after(after(sent(), found('away')), found('disagrees'));
  expect(stand(disputed)).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(disputed, found('disagrees', { confirmations: 99 }), LATER_MS * 2)).toBe(disputed);
  const away = after(disputed, found('away'), LATER_MS);
  expect(stand(away)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(after(away, found('away'), LATER_MS + 1)).toBe(away);
  expect(stand(after(away, found('agrees')))).toEqual(['SUCCEEDED', null]);
});

test('what ended on the word of one node goes on when the other one contradicts, and what two nodes ended stays', () => {
  const alone = after(after(sent(), found('away')), found('away'), LATER_MS);
  expect(stand(after(alone, found('disagrees'), LATER_MS))).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  const agreed = after(sent(), found('agrees'));
  expect(after(agreed, found('agrees', { confirmations: 9 }))).toBe(agreed);
  // Of before there was a second node, or of an older version.
  const old = transactionIn('SUCCEEDED');
  expect(after(old, found('away', { confirmations: 9 }))).toBe(old);
  expect(stand(after(old, found('away', { finalized: true })))).toEqual(['SUCCEEDED', null]);
});

test('another block is waited for as the first one was', () => {
  const waiting = after(sent(), found('away'));
  const elsewhere: TransactionEvent = {
    type: 'include',
    inclusion: inclusion({ blockHash: `0x${'b2'.repeat(32)}`, confirmations: 3, secondNode: 'away' }),
    confirmationsNeeded: 3,
  };
  const moved = after(waiting, elsewhere, LATER_MS);
  expect([...stand(moved), moved.secondNodeAwaitedSinceMs]).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY', LATER_MS]);
});
