import { expect, test } from 'vitest';
import type { EventOf, TransactionEvent } from '#domain/transaction/event.ts';
import { mayEndUnknown, outstandingJob } from '#domain/transaction/job.ts';
import type { Attempt, SecondNodeVerdict, Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { alice, inclusion, NOON_MS, OTHER_HASH, policy, PREPARED, transactionIn, UNSPENT } from '../cast.ts';
import { after, cancellation, miss, sentWith } from './step.ts';

/** Covers an inclusion that is deep enough, and the verdict of a second RPC node on it. */

const context = { nowMs: NOON_MS, policy, spentOf: UNSPENT };

const found = (
  secondNode: SecondNodeVerdict | null,
  { succeeded = true, confirmations = 3, finalized = false } = {},
): TransactionEvent => ({
  type: 'include',
  inclusion: inclusion({ succeeded, confirmations, finalized, ...(secondNode === null ? {} : { secondNode }) }),
  confirmationsNeeded: 3,
});

const sentTimes = (was: Attempt['sent'], times: number) => (was === null ? null : { ...was, times, atMs: NOON_MS });
const stand = ({ state, stateReason }: Transaction) => [state, stateReason];
const sent = () => transactionIn('BROADCAST');
/** Returns a payment whose inclusion one RPC node reported and a second one contradicts. */
const contradicted = () => after(after(sent(), found('away')), found('disagrees'));
const YEARS_LATER_MS = NOON_MS + 3 * 365 * 24 * 60 * 60 * 1000;

test('a report by the only configured RPC node, or by two that agree, ends the payment at once', () => {
  for (const second of [null, 'agrees'] as const) {
    expect(stand(after(sent(), found(second)))).toEqual(['SUCCEEDED', null]);
    expect(stand(after(sent(), found(second, { succeeded: false })))).toEqual(['FAILED', 'REVERTED']);
  }
});

test('an unreachable second RPC node delays the end of a payment for as long as it is unreachable', () => {
  const waiting = after(sent(), found('away'));
  expect(stand(waiting)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(outstandingJob(waiting)).toBe('confirm');
  // The report has nothing new, so the time of the last change stays.
  expect(after(waiting, found('away', { confirmations: 50 }), YEARS_LATER_MS)).toBe(waiting);
  const final = after(waiting, found('away', { confirmations: 90, finalized: true }), YEARS_LATER_MS);
  expect([...stand(final), outstandingJob(final)]).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY', 'confirm']);
  // The second RPC node is reachable again, or was removed from the configuration.
  for (const second of ['agrees', null] as const) {
    expect(stand(after(final, found(second, { confirmations: 91, finalized: true })))).toEqual(['SUCCEEDED', null]);
  }
});

test('a failed payment is never accepted from one RPC node, however long the second one is unreachable', () => {
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

test('RPC nodes that disagree end no payment, however long they disagree', () => {
  const disputed = after(after(sent(), found('away')), found('disagrees'));
  expect(stand(disputed)).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(disputed, found('disagrees', { confirmations: 99 }), YEARS_LATER_MS)).toBe(disputed);
  const unreachable = after(disputed, found('away'));
  expect(stand(unreachable)).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  expect(stand(after(unreachable, found('agrees')))).toEqual(['SUCCEEDED', null]);
});

test('a contradiction counts before the inclusion is deep enough, until the RPC nodes agree again', () => {
  const disputed = after(after(sent(), found('away', { confirmations: 1 })), found('disagrees', { confirmations: 1 }));
  expect(stand(disputed)).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(disputed, found('disagrees', { confirmations: 2 }))).toBe(disputed);
  expect(stand(after(disputed, found('away', { confirmations: 2 })))).toEqual(['CONFIRMING', null]);
  expect(stand(after(disputed, found('agrees', { confirmations: 2 })))).toEqual(['CONFIRMING', null]);
});

test('an included payment can be cancelled or replaced only while RPC nodes contradict each other about its block', () => {
  const disputed = contradicted();
  for (const type of ['cancel', 'speedUp'] as const) {
    const ended = after(disputed, { type, actor: alice });
    expect([ended.state, ended.inclusion, outstandingJob(ended)]).toEqual(['BROADCAST', null, 'sign']);
    for (const second of ['away', 'agrees', null] as const) {
      const settled = after(sent(), found(second, { confirmations: 1 }));
      expect(decide(settled, { type, actor: alice }, context)).toMatchObject({ ok: false });
    }
  }
  const cancelled = after(disputed, { type: 'cancel', actor: alice });
  expect([cancelled.cancelling, cancelled.stateReason]).toEqual([true, 'CANCELLING']);
});

test('an inclusion that a second RPC node contradicts from the start is not recorded, so a cancel is possible', () => {
  const waiting = after(sent(), found('disagrees'));
  expect([...stand(waiting), waiting.inclusion, outstandingJob(waiting)]).toEqual([
    'BROADCAST',
    'NODES_DISAGREE',
    null,
    'confirm',
  ]);
  expect(after(waiting, found('disagrees', { confirmations: 9 }))).toBe(waiting);
  // An RPC node that repeatedly reports and withdraws an inclusion changes the record no more often
  // than the bytes are sent again.
  const often = {
    ...waiting,
    attempts: [sentWith('accepted', {})].map((one) => ({ ...one, sent: sentTimes(one.sent, 4) })),
  };
  expect(after(often, miss())).toBe(often);
  expect(stand(after(often, miss(), NOON_MS + 120_000))).toEqual(['BROADCAST', 'REBROADCASTING']);
  const later = NOON_MS + 15_000;
  for (const seen of [{ inMempool: true }, { isUnexplained: true }, { isCoinUnknown: true }]) {
    expect(after(waiting, miss(seen))).toBe(waiting);
  }
  const healed = after(waiting, miss({ inMempool: true }), later);
  expect(stand(healed)).toEqual(['BROADCAST', null]);
  expect(after(healed, found('disagrees'), later + 14_999)).toBe(healed);
  // A reason that requires a person is not replaced.
  for (const stateReason of ['NONCE_USED_UNEXPLAINED', 'COIN_UNKNOWN']) {
    const unknown = transactionIn('BROADCAST', { stateReason });
    expect(after(unknown, found('disagrees'))).toBe(unknown);
  }
  const resting = transactionIn('BROADCAST', { stateReason: 'FEE_CAP_EXCEEDED', attempts: [sentWith('refused')] });
  expect(after(resting, found('disagrees'))).toBe(resting);
  expect(outstandingJob(after(waiting, { type: 'cancel', actor: alice }))).toBe('sign');
  expect(stand(after(waiting, found('agrees')))).toEqual(['SUCCEEDED', null]);
  // A failed payment may be on the chain. Operators and members see that the RPC nodes contradict
  // each other.
  const failed = transactionIn('FAILED', { inclusion: null, watchedSinceMs: NOON_MS, stateReason: 'CONFLICTED' });
  expect(stand(after(failed, found('disagrees')))).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
});

test('a nonce that one RPC node states used and another one unused can be cancelled, and not ended by a person', () => {
  const disputed = miss({ isUseDisputed: true });
  const waiting = after(sent(), disputed);
  expect([...stand(waiting), outstandingJob(waiting), mayEndUnknown(waiting)]).toEqual([
    'BROADCAST',
    'NODES_DISAGREE',
    'confirm',
    false,
  ]);
  expect(outstandingJob(after(waiting, { type: 'cancel', actor: alice }))).toBe('sign');
  // A node that was silent at the last poll now contradicts: at once, an end is refused.
  for (const stateReason of ['NONCE_USED_UNEXPLAINED', 'COIN_UNKNOWN'] as const) {
    const unknown = transactionIn('BROADCAST', { stateReason });
    expect([mayEndUnknown(unknown), mayEndUnknown(after(unknown, disputed))]).toEqual([true, false]);
  }
  // The node changes its answer at most once in some seconds.
  expect(after(waiting, miss({ isUnexplained: true }))).toBe(waiting);
  expect(stand(after(waiting, miss({ isUnexplained: true }), NOON_MS + 15_000))).toEqual([
    'BROADCAST',
    'NONCE_USED_UNEXPLAINED',
  ]);
});

test('a late report of a contradicted inclusion does not undo a cancellation in flight', () => {
  const cancelled = after(contradicted(), { type: 'cancel', actor: alice });
  const prepared = after(cancelled, { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } });
  const signed = after(prepared, { type: 'sign', attempt: 2, raw: '0x02ee', hash: OTHER_HASH });
  for (const one of [cancelled, prepared, signed]) expect(after(one, found('disagrees'), NOON_MS + 60_000)).toBe(one);
  // If the first report came before the contradiction, a second cancel request continues the
  // cancellation.
  for (const one of [prepared, signed]) {
    const overtaken = after(after(one, found('away')), found('disagrees'));
    expect(overtaken.state).toBe('CONFIRMING');
    const again = after(overtaken, { type: 'cancel', actor: alice });
    expect([again.state, again.inclusion, outstandingJob(again)]).toEqual(['BROADCAST', null, outstandingJob(one)]);
  }
  const out = after(signed, { type: 'send', attempt: 2, outcome: 'accepted', answer: null });
  const disputed = after(after(out, found('away')), found('disagrees'));
  expect(stand(disputed)).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(disputed, { type: 'cancel', actor: alice })).toBe(disputed);
});

test('an inclusion that one RPC node reports and withdraws is removed only after 15 seconds', () => {
  const claimed = after(sent(), found('away'));
  expect(after(claimed, miss(), NOON_MS + 14_999)).toBe(claimed);
  expect(stand(after(claimed, miss(), NOON_MS + 15_000))).toEqual(['BROADCAST', 'REORGED']);
  for (const second of ['agrees', null] as const) {
    expect(after(after(sent(), found(second)), miss()).state).toBe('BROADCAST');
  }
});

test('a late report does not undo the finality of an inclusion', () => {
  const final = after(sent(), found('agrees', { finalized: true }));
  for (const second of ['away', 'disagrees', 'agrees'] as const) {
    expect(after(final, found(second, { confirmations: 9 }))).toBe(final);
  }
});

test('a block that only one RPC node calls final is recorded once, and ends nothing', () => {
  const one = (confirmations: number): EventOf<'include'> => ({
    type: 'include',
    inclusion: inclusion({ confirmations, secondNode: 'away', isFinalForOneNode: true }),
    confirmationsNeeded: 3,
  });
  const waiting = after(after(sent(), found('away')), one(9));
  expect([...stand(waiting), waiting.inclusion?.isFinalForOneNode]).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY', true]);
  expect(after(waiting, one(10))).toBe(waiting);
  const done = after(sent(), found('agrees'));
  const final = after(done, { ...one(9), inclusion: { ...one(9).inclusion, secondNode: 'agrees' } });
  expect([final.state, final.inclusion?.isFinalForOneNode, outstandingJob(final)]).toEqual([
    'SUCCEEDED',
    true,
    'confirm',
  ]);
});

test('a payment that one RPC node ended is open again when a second one contradicts, and not when it is unreachable', () => {
  const alone = after(sent(), found(null));
  expect(stand(after(alone, found('disagrees', { confirmations: 9 })))).toEqual(['CONFIRMING', 'NODES_DISAGREE']);
  expect(after(alone, found('away', { confirmations: 9 }))).toBe(alone);
  expect(stand(after(alone, found('away', { finalized: true })))).toEqual(['SUCCEEDED', null]);
  const agreed = after(sent(), found('agrees'));
  expect(after(agreed, found('agrees', { confirmations: 9 }))).toBe(agreed);
});

test('a report of the payment in another block requires the same confirmations as the first one', () => {
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
