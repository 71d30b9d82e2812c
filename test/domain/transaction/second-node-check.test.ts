import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import type { SecondNodeVerdict, Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { inclusion, NOON_MS, policy, transactionIn, UNSPENT } from '../cast.ts';
import { cancellation, sentWith } from './step.ts';

/** An inclusion that is deep enough, and what a second RPC node says of it. */

function after(transaction: Transaction, event: TransactionEvent, nowMs = NOON_MS): Transaction {
  const decided = decide(transaction, event, { nowMs, policy, spentOf: UNSPENT });
  if (!decided.ok) throw new Error(decided.refusal.code);
  return decided.value.transaction;
}

const found = (
  secondNode: SecondNodeVerdict | null,
  { succeeded = true, confirmations = 3, finalized = false } = {},
): TransactionEvent => ({
  type: 'include',
  inclusion: inclusion({ succeeded, confirmations, finalized, ...(secondNode === null ? {} : { secondNode }) }),
  confirmationsNeeded: 3,
});

const stand = ({ state, stateReason }: Transaction) => [state, stateReason];
const sent = () => transactionIn('BROADCAST');
const YEARS_LATER_MS = NOON_MS + 3 * 365 * 24 * 60 * 60 * 1000;

test('one node alone, or two that agree, end it at once', () => {
  for (const second of [null, 'agrees'] as const) {
    expect(stand(after(sent(), found(second)))).toEqual(['SUCCEEDED', null]);
    expect(stand(after(sent(), found(second, { succeeded: false })))).toEqual(['FAILED', 'REVERTED']);
  }
});

test('a second node that is away holds a payment up for as long as it is away', () => {
  const waiting = after(sent(), found('away'));
  expect(stand(waiting)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(outstandingJob(waiting)).toBe('confirm');
  // It says nothing new, so that the record looks as stuck as it is.
  expect(after(waiting, found('away', { confirmations: 50 }), YEARS_LATER_MS)).toBe(waiting);
  const final = after(waiting, found('away', { confirmations: 90, finalized: true }), YEARS_LATER_MS);
  expect([...stand(final), outstandingJob(final)]).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY', 'confirm']);
  // The second node is back, or is taken out of the configuration.
  for (const second of ['agrees', null] as const) {
    expect(stand(after(final, found(second, { confirmations: 91, finalized: true })))).toEqual(['SUCCEEDED', null]);
  }
});

test('that nothing was paid is never believed of one node, however long the other one is away', () => {
  const reverted = found('away', { succeeded: false });
  const waiting = after(sent(), reverted);
  expect(after(waiting, reverted, YEARS_LATER_MS)).toBe(waiting);
  expect(stand(after(waiting, found('agrees', { succeeded: false })))).toEqual(['FAILED', 'REVERTED']);
  const cancelling = transactionIn('BROADCAST', {
    cancelling: true,
    attempts: [sentWith('accepted', cancellation)],
  });
  const undone = after(cancelling, found('away'));
  expect(stand(undone)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(after(undone, found('away'), YEARS_LATER_MS)).toBe(undone);
  expect(stand(after(undone, found('agrees')))).toEqual(['CANCELLED', 'CANCELLED_ON_CHAIN']);
});

test('nodes that disagree end nothing for as long as they do', () => {
  const disputed = after(after(sent(), found('away')), found('disagrees'));
  expect(stand(disputed)).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(disputed, found('disagrees', { confirmations: 99 }), YEARS_LATER_MS)).toBe(disputed);
  const unreachable = after(disputed, found('away'));
  expect(stand(unreachable)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(stand(after(unreachable, found('agrees')))).toEqual(['SUCCEEDED', null]);
});

test('what ended on the word of one node is open again when a second one contradicts, and stays when that one is away', () => {
  const alone = after(sent(), found(null));
  expect(stand(after(alone, found('disagrees', { confirmations: 9 })))).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(alone, found('away', { confirmations: 9 }))).toBe(alone);
  expect(stand(after(alone, found('away', { finalized: true })))).toEqual(['SUCCEEDED', null]);
  const agreed = after(sent(), found('agrees'));
  expect(after(agreed, found('agrees', { confirmations: 9 }))).toBe(agreed);
});

test('another block is waited for as the first one was', () => {
  const waiting = after(sent(), found('away'));
  const elsewhere = {
    type: 'include' as const,
    inclusion: inclusion({ blockHash: `0x${'b2'.repeat(32)}`, confirmations: 3, secondNode: 'away' }),
    confirmationsNeeded: 3,
  };
  const moved = after(waiting, elsewhere, YEARS_LATER_MS);
  expect([...stand(moved), moved.inclusion?.blockHash]).toEqual([
    'CONFIRMING',
    'SECOND_NODE_AWAY',
    elsewhere.inclusion.blockHash,
  ]);
});
