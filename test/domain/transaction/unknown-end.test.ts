import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { UnknownEndReason } from '#domain/transaction/job.ts';
import { isWatchedAfterFailure, keepsReservation, outstandingJob } from '#domain/transaction/job.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import {
  alice,
  NOON_MS,
  OTHER_HASH,
  policy,
  PREPARED,
  sentAttempt,
  signedAttempt,
  transactionIn,
  UNSPENT,
} from '../cast.ts';
import { after, found, miss } from './step.ts';

/**
 * Covers a payment whose end the RPC nodes do not show: it does not end by itself, and a person may
 * end it.
 */

function decided(transaction: Transaction, event: TransactionEvent, nowMs = NOON_MS) {
  return decide(transaction, event, { nowMs, policy, spentOf: UNSPENT });
}

function withSignedCancellation(transaction: Transaction): Transaction {
  const cancelling = after(transaction, { type: 'cancel', actor: alice });
  const prepared = after(cancelling, { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } });
  return after(prepared, { type: 'sign', attempt: 2, raw: '0x02ee', hash: OTHER_HASH });
}

const DAY_MS = 24 * 60 * 60 * 1000;
const unknown = miss({ isCoinUnknown: true });
const taken = miss({ nonceTaken: true });
const endFor = (reason: UnknownEndReason): TransactionEvent => ({ type: 'endUnknown', actor: alice, reason });
const end = endFor('COIN_UNKNOWN');
const stand = (one: Transaction) => [one.state, one.stateReason, outstandingJob(one), one.nonceHeld];
const settled = (one: Transaction) => after(one, { type: 'settle', keepsCoins: keepsReservation(one) });
const waiting = after(transactionIn('BROADCAST'), unknown);

test('a payment whose UTXO no RPC node shows stays in its state, and nothing is sent again', () => {
  expect(stand(waiting)).toEqual(['BROADCAST', 'COIN_UNKNOWN', 'confirm', true]);
  expect([waiting.attempts, after(waiting, unknown)]).toEqual([transactionIn('BROADCAST').attempts, waiting]);
  expect(after(waiting, unknown, NOON_MS + 400 * DAY_MS)).toBe(waiting);
  // An attempt was signed after this check began, so the check has no effect.
  expect(after(transactionIn('BROADCAST'), miss({ isCoinUnknown: true, lookedFor: 0 })).stateReason).toBeNull();
});

test('a payment continues when its UTXO is shown again, and ends when a named transaction spends the UTXO', () => {
  expect(stand(after(waiting, miss()))).toEqual(['BROADCAST', 'REBROADCASTING', 'broadcast', true]);
  expect(stand(after(waiting, miss({ inMempool: true })))).toEqual(['BROADCAST', null, 'confirm', true]);
  expect(stand(after(waiting, taken))).toEqual(['FAILED', 'CONFLICTED', 'settle', true]);
  expect(stand(after(waiting, found()))).toEqual(['SUCCEEDED', null, 'confirm', true]);
  const stopping = after(transactionIn('BROADCAST', { cancelling: true }), unknown);
  expect(after(stopping, miss({ inMempool: true })).stateReason).toBe('CANCELLING');
});

test('a person can end a payment with an unknown UTXO while its cancellation cannot be signed', () => {
  const cancelling = after(transactionIn('BROADCAST'), { type: 'cancel', actor: alice });
  const prepared = after(cancelling, { type: 'prepare', attempt: { ...PREPARED, purpose: 'cancellation' } });
  const stuck = after(prepared, unknown);
  expect(stand(stuck)).toEqual(['BROADCAST', 'COIN_UNKNOWN', 'sign', true]);
  expect(after(stuck, miss()).stateReason).toBe('CANCELLING');
  const signed = after(stuck, { type: 'sign', attempt: 2, raw: '0x02ee', hash: OTHER_HASH });
  expect(stand(signed)).toEqual(['BROADCAST', 'CANCELLING', 'broadcast', true]);
  expect(stand(after(stuck, end))).toEqual(['FAILED', 'COIN_UNKNOWN', 'settle', true]);
});

test('a payment that a person ended is watched for two weeks, and its UTXOs stay reserved', () => {
  const ended = after(waiting, end);
  expect(stand(ended)).toEqual(['FAILED', 'COIN_UNKNOWN', 'settle', true]);
  const watched = settled(ended);
  expect([...stand(watched), isWatchedAfterFailure(watched), keepsReservation(watched)]).toEqual([
    'FAILED',
    'COIN_UNKNOWN',
    'confirm',
    false,
    true,
    true,
  ]);
  expect(after(watched, unknown, NOON_MS + 14 * DAY_MS - 1)).toBe(watched);
  const over = after(watched, unknown, NOON_MS + 14 * DAY_MS);
  expect([...stand(over), keepsReservation(over)]).toEqual(['FAILED', 'COIN_UNKNOWN', 'settle', true, false]);
  expect(stand(settled(over))).toEqual(['FAILED', 'COIN_UNKNOWN', null, false]);
});

test('a payment that a person ended and the chain includes after all succeeds, and releases its UTXOs', () => {
  const watched = settled(after(waiting, end));
  const confirming = after(watched, found({ confirmations: 1 }));
  expect(stand(confirming)).toEqual(['CONFIRMING', null, 'confirm', true]);
  const done = after(after(confirming, found()), found({ finalized: true }));
  expect(stand(done)).toEqual(['SUCCEEDED', null, 'settle', true]);
  expect(stand(settled(done))).toEqual(['SUCCEEDED', null, null, false]);
});

test('a payment that a person ended releases its UTXOs as soon as a named transaction spends one of them', () => {
  const watched = settled(after(waiting, end));
  const dead = after(watched, taken);
  expect([...stand(dead), keepsReservation(dead)]).toEqual(['FAILED', 'CONFLICTED', 'settle', true, false]);
  // This event is late: the allocator was instructed to keep the UTXOs before the conflict was
  // known.
  expect(after(dead, { type: 'settle', keepsCoins: true })).toBe(dead);
  expect([...stand(settled(dead)), isWatchedAfterFailure(dead)]).toEqual([
    'FAILED',
    'CONFLICTED',
    'confirm',
    false,
    true,
  ]);
});

test('a lifetime that was stated falsely is shortened for every attempt, and never extended', () => {
  const attempts = [sentAttempt(), { ...sentAttempt(), number: 2, validUntil: '1000000' }].map((one, i) =>
    i === 0 ? { ...one, validUntil: '400' } : one,
  );
  const sent = transactionIn('BROADCAST', { attempts });
  const bounded = after(sent, miss({ liveUntil: '900' }));
  expect(bounded.attempts.map(({ validUntil }) => validUntil)).toEqual(['400', '900']);
  expect([bounded.state, bounded.stateReason]).toEqual(['BROADCAST', null]);
});

test('a UTXO that another payment of the vault spent is no foreign conflict', () => {
  const own = miss({ nonceTaken: true, isTakenByOwn: true });
  expect(stand(after(transactionIn('BROADCAST'), own))).toEqual(['FAILED', 'OVERTAKEN_BY_OWN', 'settle', true]);
  const watched = settled(after(waiting, end));
  expect(stand(after(watched, own))).toEqual(['FAILED', 'OVERTAKEN_BY_OWN', 'settle', true]);
});

test('a person cannot end a payment whose UTXOs are known', () => {
  for (const one of [
    transactionIn('BROADCAST'),
    after(waiting, miss()),
    after(transactionIn('BROADCAST'), miss({ isUnexplained: true })),
  ]) {
    expect(decided(one, end)).toEqual({ ok: false, refusal: { code: 'end-not-unknown', state: 'BROADCAST' } });
  }
  for (const state of ['DRAFT', 'SIGNING', 'CONFIRMING', 'SUCCEEDED', 'FAILED'] as const) {
    expect(decided(transactionIn(state), end)).toEqual({
      ok: false,
      refusal: { code: 'transaction-not-pending', state },
    });
  }
});

test('a payment that passed its end can still be ended by a person, and one that fills its nonce cannot', () => {
  const given = (stateReason: string, givenUp: string) =>
    transactionIn('BROADCAST', { stateReason, cancelling: true, givenUp });
  for (const reason of ['COIN_UNKNOWN', 'NONCE_USED_UNEXPLAINED'] as const) {
    const ended = after(given(reason, 'NOT_AFTER_PASSED'), endFor(reason));
    expect([...stand(ended), ended.cancelling]).toEqual(['FAILED', reason, 'settle', true, false]);
  }
  const filling = given('REJECTED_BY_NODE', 'REJECTED_BY_NODE');
  expect(decided(filling, endFor('REJECTED_BY_NODE'))).toMatchObject({ refusal: { code: 'end-not-unknown' } });
});

test('a payment that a person ended because of an unexplained nonce is watched, and can still succeed', () => {
  const unexplained = after(transactionIn('BROADCAST'), miss({ isUnexplained: true }));
  const ended = after(unexplained, endFor('NONCE_USED_UNEXPLAINED'));
  expect(stand(ended)).toEqual(['FAILED', 'NONCE_USED_UNEXPLAINED', 'settle', true]);
  const watched = settled(ended);
  expect([outstandingJob(watched), keepsReservation(watched)]).toEqual(['confirm', true]);
  const over = after(watched, miss({ isUnexplained: true }), NOON_MS + 14 * DAY_MS);
  expect([...stand(over), keepsReservation(over)]).toEqual(['FAILED', 'NONCE_USED_UNEXPLAINED', 'settle', true, false]);
  expect(after(watched, found()).state).toBe('SUCCEEDED');
  expect(decided(unexplained, end)).toMatchObject({ refusal: { code: 'end-not-unknown' } });
});

const unsent = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
const refusal = { type: 'refuseBroadcast', attempt: 1, answer: 'dust' } as const;

test('bytes with UTXOs that every server refuses are watched until another transaction spends a UTXO permanently', () => {
  const refused = after(unsent, { ...refusal, keepsCoins: true });
  expect(stand(refused)).toEqual(['BROADCAST', 'REJECTED_BY_NODE', 'confirm', true]);
  expect(after(refused, miss())).toBe(refused);
  expect(after(refused, miss(), NOON_MS + DAY_MS)).toBe(refused);
  expect(after(refused, miss({ inMempool: true })).stateReason).toBeNull();
  expect(stand(after(refused, taken))).toEqual(['FAILED', 'CONFLICTED', 'settle', true]);
  expect(stand(after(refused, found()))).toEqual(['SUCCEEDED', null, 'confirm', true]);
  expect(stand(after(refused, { type: 'cancel', actor: alice }))).toEqual(['BROADCAST', 'CANCELLING', 'sign', true]);
  const ended = settled(after(refused, endFor('REJECTED_BY_NODE')));
  expect([...stand(ended), keepsReservation(ended)]).toEqual(['FAILED', 'REJECTED_BY_NODE', 'confirm', false, false]);
  // On a chain with nonces the next payment reuses the nonce, so the refused payment fails at once.
  expect(stand(after(unsent, refusal))).toEqual(['FAILED', 'REJECTED_BY_NODE', 'settle', true]);
});

test('a payment that all reachable RPC nodes refuse can be replaced, and fails once the last node refuses it too', () => {
  const undecided = after(unsent, { type: 'send', attempt: 1, outcome: 'undecided', answer: 'dust' });
  expect(stand(undecided)).toEqual(['BROADCAST', 'REFUSED_BY_NODE', 'broadcast', true]);
  for (const type of ['cancel', 'speedUp'] as const) {
    expect(outstandingJob(after(undecided, { type, actor: alice }))).toBe('sign');
  }
  expect(stand(after(undecided, refusal))).toEqual(['FAILED', 'REJECTED_BY_NODE', 'settle', true]);
});

test('a refusal does not end a payment after a time-out or an acceptance, or when an earlier attempt may be out', () => {
  const undecided = { type: 'send', attempt: 1, outcome: 'undecided', answer: 'dust' } as const;
  const timedOut = { ...undecided, outcome: 'unknown' } as const;
  for (const events of [
    [timedOut, undecided],
    [undecided, timedOut],
  ]) {
    const open = events.reduce((one, event) => after(one, event), unsent);
    expect([open.attempts[0]?.sent?.outcome, after(open, refusal).state]).toEqual(['unknown', 'BROADCAST']);
  }
  const known = after(unsent, { ...undecided, outcome: 'accepted' });
  expect(after(known, undecided)).toBe(known);
  const signed = withSignedCancellation(after(unsent, undecided));
  expect(after(signed, { ...refusal, attempt: 2 }).state).toBe('BROADCAST');
});

test('a person can end bytes with UTXOs that every server refuses, also after a time-out or a cancellation', () => {
  const refused = { ...refusal, keepsCoins: true };
  const timedOut = after(unsent, { type: 'send', attempt: 1, outcome: 'unknown', answer: 'No response in time.' });
  expect(stand(after(timedOut, refused))).toEqual(['BROADCAST', 'REJECTED_BY_NODE', 'confirm', true]);
  const signed = withSignedCancellation(after(unsent, refused));
  const stuck = after(signed, { ...refused, attempt: 2 });
  expect(stand(stuck)).toEqual(['BROADCAST', 'REJECTED_BY_NODE', 'confirm', true]);
  expect(after(stuck, endFor('REJECTED_BY_NODE')).state).toBe('FAILED');
  expect(after(stuck, miss({ inMempool: true })).stateReason).toBe('CANCELLING');
});

const HOUR_MS = 60 * 60_000;
const unshown: TransactionEvent = { type: 'unshown' };

test('a payment that no RPC node explains for an hour gets a reason, and a person ends it after a cancellation', () => {
  const sent = transactionIn('BROADCAST', { updatedAtMs: NOON_MS });
  expect(after(sent, unshown, NOON_MS + HOUR_MS - 1)).toBe(sent);
  const named = after(sent, unshown, NOON_MS + HOUR_MS);
  expect(stand(named)).toEqual(['BROADCAST', 'NOT_SHOWN', 'confirm', true]);
  // The bytes may be valid, and another payment could be made beside them.
  expect(decided(named, endFor('NOT_SHOWN'))).toMatchObject({ refusal: { code: 'end-not-unknown' } });
  // What is sent again leaves the record as it is, so that it looks stuck to operators.
  expect(after(named, miss(), NOON_MS + 2 * HOUR_MS)).toBe(named);
  expect(after(named, miss({ inMempool: true })).stateReason).toBeNull();
  expect(after(named, found()).state).toBe('SUCCEEDED');
  const signed = withSignedCancellation(named);
  const stuck = after(signed, unshown, NOON_MS + 3 * HOUR_MS);
  expect(stuck.stateReason).toBe('NOT_SHOWN');
  const ended = settled(after(stuck, endFor('NOT_SHOWN')));
  expect([...stand(ended), keepsReservation(ended)]).toEqual(['FAILED', 'NOT_SHOWN', 'confirm', false, true]);
});

test('a reason that explains why a payment waits stays', () => {
  for (const stateReason of ['WAITS_FOR_NONCE', 'FEE_ABOVE_CAP', 'NONCE_USED_UNEXPLAINED', 'NODES_DISAGREE']) {
    const waits = transactionIn('BROADCAST', { stateReason, updatedAtMs: NOON_MS });
    expect(after(waits, unshown, NOON_MS + DAY_MS)).toBe(waits);
  }
});
