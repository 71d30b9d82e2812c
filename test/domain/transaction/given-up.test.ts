import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { isWatchedAfterFailure, outstandingJob } from '#domain/transaction/job.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { HASH, NOON_MS, OTHER_HASH, preparedAttempt, sentAttempt, transactionIn } from '../cast.ts';
import { after, found, miss, sentWith } from './step.ts';

/**
 * Covers a nonce that an unknown transaction uses, and failed transactions that a block includes
 * after all.
 */

const DAY_MS = 24 * 60 * 60 * 1000;
const unexplained = miss({ isUnexplained: true });
const taken = miss({ nonceTaken: true });
const stand = ({ state, stateReason }: Transaction) => [state, stateReason];
const settled = (transaction: Transaction) => after(transaction, { type: 'settle' });

test('a payment whose nonce an unknown transaction has used stays in its state, with a reason', () => {
  const sent = transactionIn('BROADCAST');
  const waiting = after(sent, unexplained);
  expect([...stand(waiting), outstandingJob(waiting)]).toEqual(['BROADCAST', 'NONCE_USED_UNEXPLAINED', 'confirm']);
  expect([waiting.attempts, after(waiting, unexplained)]).toEqual([sent.attempts, waiting]);
  expect(stand(after(waiting, found()))).toEqual(['SUCCEEDED', null]);
  expect(stand(after(waiting, taken))).toEqual(['FAILED', 'CONFLICTED']);
  // An attempt was signed after this check began, so the check has no effect.
  expect(after(sent, miss({ isUnexplained: true, lookedFor: 0 }))).toBe(sent);
});

test('the reason is removed when the RPC node withdraws its report', () => {
  const waiting = after(transactionIn('BROADCAST'), unexplained);
  expect(stand(after(waiting, miss({ inMempool: true })))).toEqual(['BROADCAST', null]);
  expect(stand(after(waiting, miss()))).toEqual(['BROADCAST', 'REBROADCASTING']);
  const cancelling = after(transactionIn('BROADCAST', { cancelling: true }), unexplained);
  expect(stand(after(cancelling, miss({ inMempool: true })))).toEqual(['BROADCAST', 'CANCELLING']);
  const unsure = after(transactionIn('BROADCAST', { attempts: [sentWith('underpriced')] }), unexplained);
  expect([...stand(after(unsure, miss())), outstandingJob(unsure)]).toEqual(['BROADCAST', null, 'sign']);
});

test('a transaction that ended because of a foreign transaction is watched for two weeks', () => {
  const failed = after(transactionIn('BROADCAST'), taken);
  expect([...stand(failed), outstandingJob(failed)]).toEqual(['FAILED', 'CONFLICTED', 'settle']);
  const watched = settled(failed);
  expect([outstandingJob(watched), isWatchedAfterFailure(watched)]).toEqual(['confirm', true]);
  for (const event of [taken, unexplained, miss()]) {
    expect(after(watched, event, NOON_MS + 14 * DAY_MS - 1)).toBe(watched);
  }
  const over = after(watched, taken, NOON_MS + 14 * DAY_MS);
  expect([...stand(over), outstandingJob(over)]).toEqual(['FAILED', 'CONFLICTED', null]);
});

test('a failed transaction is restored when one of its hashes is in a block', () => {
  const watched = settled(after(transactionIn('BROADCAST'), taken));
  const confirming = after(watched, found({ confirmations: 1 }));
  expect([...stand(confirming), outstandingJob(confirming)]).toEqual(['CONFIRMING', null, 'confirm']);
  const done = after(confirming, found());
  expect([...stand(done), outstandingJob(done)]).toEqual(['SUCCEEDED', null, 'confirm']);
  const final = after(done, found({ finalized: true }));
  expect([...stand(final), outstandingJob(final)]).toEqual(['SUCCEEDED', null, null]);
  expect(stand(after(watched, found({ succeeded: false })))).toEqual(['FAILED', 'REVERTED']);
  // A block with a foreign transaction does not restore a failed one.
  expect(after(watched, found({ hash: OTHER_HASH }))).toBe(watched);
});

test('a delivery restarts the watch of a failed transaction, whatever the reason of its failure', () => {
  const watch: TransactionEvent = { type: 'watch' };
  for (const stateReason of ['CONFLICTED', 'REJECTED_BY_NODE', 'SIGNING_TIMEOUT']) {
    const failed = transactionIn('FAILED', { stateReason, inclusion: null, nonceHeld: false });
    expect(outstandingJob(failed)).toBeNull();
    const watched = after(failed, watch);
    expect([watched.state, outstandingJob(watched), after(watched, watch)]).toEqual(['FAILED', 'confirm', watched]);
    expect(stand(after(watched, found({ hash: HASH })))).toEqual(['SUCCEEDED', null]);
  }
  // The first transaction has no signed bytes, and a block includes the second one.
  for (const differences of [{ inclusion: null, attempts: [preparedAttempt()] }, { attempts: [sentAttempt()] }]) {
    const failed = transactionIn('FAILED', differences);
    expect(after(failed, watch)).toBe(failed);
  }
});
