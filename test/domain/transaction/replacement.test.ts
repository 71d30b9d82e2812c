import { describe, expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { isAtRest } from '#domain/transaction/inclusion-steps.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import type { Decision } from '#domain/transaction/transition.ts';
import {
  alice,
  bob,
  HASH,
  inclusion,
  NOON_MS,
  OTHER_HASH,
  policy,
  PREPARED,
  sentAttempt,
  signedAttempt,
  transactionIn,
  UNSPENT,
} from '../cast.ts';

/** Covers further attempts at one nonce, and when no further attempt can be made. */

function after(transaction: Transaction, event: TransactionEvent): Decision {
  const decided = decide(transaction, event, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
  if (!decided.ok) throw new Error(`refused: ${decided.refusal.code}`);
  return decided.value;
}

const cheap = () =>
  transactionIn('BROADCAST', {
    attempts: [{ ...signedAttempt(), sent: { outcome: 'underpriced', answer: null, atMs: NOON_MS, times: 1 } }],
  });

test('a faster attempt that cannot be made leaves the earlier attempts in flight', () => {
  const repricing = cheap();
  expect(outstandingJob(repricing)).toBe('sign');
  const abandon: TransactionEvent = { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' };
  const given = after(repricing, abandon).transaction;
  expect([given.state, given.stateReason, outstandingJob(given)]).toEqual(['BROADCAST', 'FEE_CAP_EXCEEDED', 'confirm']);
  expect(after(given, abandon).changed).toBe(false);
  const mined = after(given, { type: 'include', inclusion: inclusion(), confirmationsNeeded: 1 }).transaction;
  expect(mined.state).toBe('SUCCEEDED');
});

test('bytes that no block can include any more are replaced, and the payment ends if they cannot be replaced', () => {
  const sent = transactionIn('BROADCAST');
  const lapse: TransactionEvent = { type: 'lapse', attempt: 1 };
  const lapsed = after(sent, lapse).transaction;
  expect([lapsed.state, lapsed.stateReason, outstandingJob(lapsed)]).toEqual(['BROADCAST', 'SIGNING_AGAIN', 'sign']);
  expect(after(lapsed, lapse).changed).toBe(false);
  expect(after(sent, { type: 'lapse', attempt: 2 }).changed).toBe(false);
  const again = after(lapsed, { type: 'prepare', attempt: { ...PREPARED, payload: '0x0299' } }).transaction;
  expect(again.attempts.map(({ number, nonce }) => [number, nonce])).toEqual([
    [1, '4'],
    [2, '4'],
  ]);
  // Co-signers sign no further attempt, and no signed attempt can be mined. The payment has failed
  // and its nonce is released.
  const over = after(lapsed, { type: 'abandonReplacement', reason: 'SIGNING_TIMEOUT' }).transaction;
  expect([over.state, over.stateReason, outstandingJob(over)]).toEqual(['FAILED', 'SIGNING_TIMEOUT', 'settle']);
  // Another payment opens the nonce account that RPC nodes had invented: no node shows this one.
  const missing = after(lapsed, { type: 'abandonReplacement', reason: 'NONCE_ACCOUNT_MISSING' }).transaction;
  const released = after(missing, { type: 'settle' }).transaction;
  expect([released.state, outstandingJob(released)]).toEqual(['FAILED', 'confirm']);
  const unexplained = { type: 'miss', inMempool: false, nonceTaken: false, isUnexplained: true } as const;
  expect(after(released, unexplained).changed).toBe(false);
  const unsigned = after(again, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' }).transaction;
  expect([unsigned.state, unsigned.attempts.length]).toEqual(['FAILED', 1]);
});

test('unsigned bytes of a replacement that cannot be made are dropped, and the earlier attempts stay', () => {
  const prepared = after(cheap(), { type: 'prepare', attempt: { ...PREPARED, payload: '0x0299' } }).transaction;
  expect([prepared.attempts.length, outstandingJob(prepared)]).toEqual([2, 'sign']);
  const given = after(prepared, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' }).transaction;
  expect([given.attempts.length, given.attempts[0]?.signed?.hash, outstandingJob(given)]).toEqual([1, HASH, 'confirm']);
  // A late run of the signing job changes nothing.
  expect(after(given, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null }).changed).toBe(false);
});

test('a refused payment that no RPC node has is sent again, unless only a lower price or a person can help', () => {
  const miss: TransactionEvent = { type: 'miss', inMempool: false, nonceTaken: false };
  const given = after(cheap(), { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' }).transaction;
  const missed = after(given, miss).transaction;
  expect([missed.stateReason, outstandingJob(missed)]).toEqual(['REBROADCASTING', 'broadcast']);
  for (const reason of ['FEE_CAP_EXCEEDED', 'SPEED_UP_NEEDED', 'INSUFFICIENT_FUNDS'] as const) {
    const resting = after(cheap(), { type: 'abandonReplacement', reason }).transaction;
    expect([isAtRest(resting), after(resting, miss).changed, outstandingJob(resting)]).toEqual([
      true,
      false,
      'confirm',
    ]);
  }
});

test('bytes that an RPC node accepts and drops each time are sent less and less often', () => {
  const miss: TransactionEvent = { type: 'miss', inMempool: false, nonceTaken: false };
  const sentAt = (times: number, ageMs: number) => {
    const sent = { outcome: 'accepted' as const, answer: null, atMs: NOON_MS - ageMs, times };
    return transactionIn('BROADCAST', { attempts: [{ ...sentAttempt(), sent }] });
  };
  const delays = [1, 2, 3, 6, 7, 8, 100].map((times) => {
    const seconds = Array.from({ length: 800 }, (_, i) => i);
    return seconds.find((second) => after(sentAt(times, second * 1000), miss).changed) ?? null;
  });
  // The first delay is 15 s. Each delay doubles the previous one, and the transaction hash adds up
  // to a quarter.
  expect(delays).toEqual([0, 18, 35, 280, 560, 700, 700]);
});

test('a faster attempt is requested once, and only for a transaction in flight', () => {
  const request = after(transactionIn('BROADCAST'), { type: 'speedUp', actor: alice }).transaction;
  expect([request.stateReason, request.attempts[0]?.sent?.outcome, outstandingJob(request)]).toEqual([
    'REPRICING',
    'underpriced',
    'sign',
  ]);
  expect(after(request, { type: 'speedUp', actor: bob }).changed).toBe(false);
  const unsent = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
  expect(after(unsent, { type: 'speedUp', actor: alice }).changed).toBe(false);
});

describe('a check from before another attempt was signed', () => {
  const second = { ...signedAttempt(), number: 2, signed: { raw: '0x0299ff', hash: OTHER_HASH, atMs: NOON_MS } };
  const two = () => transactionIn('BROADCAST', { attempts: [signedAttempt(), second] });
  const miss = { type: 'miss', inMempool: false, nonceTaken: true } as const;
  const failed = { type: 'include', inclusion: inclusion({ succeeded: false }), confirmationsNeeded: 1 } as const;

  test('a check that did not cover the newest attempt cannot report a conflict, because that attempt may have the nonce', () => {
    expect(after(two(), { ...miss, lookedFor: 1 }).changed).toBe(false);
    for (const known of [{ lookedFor: 2 }, {}]) {
      const { state, stateReason } = after(two(), { ...miss, ...known }).transaction;
      expect([state, stateReason]).toEqual(['FAILED', 'CONFLICTED']);
    }
  });

  test('a check that did not cover the newest attempt cannot report a failure, because that attempt may succeed', () => {
    expect(after(two(), { ...failed, lookedFor: 1 }).changed).toBe(false);
    for (const known of [{ lookedFor: 2 }, {}]) {
      const { state, stateReason } = after(two(), { ...failed, ...known }).transaction;
      expect([state, stateReason]).toEqual(['FAILED', 'REVERTED']);
    }
  });

  test('a check that did not cover the newest attempt can still report a success', () => {
    const found = { ...failed, inclusion: inclusion(), lookedFor: 1 };
    expect(after(two(), found).transaction.state).toBe('SUCCEEDED');
  });

  test('a check that covered every signed attempt can report a conflict', () => {
    const unsigned = transactionIn('BROADCAST', { attempts: [signedAttempt(), { ...second, signed: null }] });
    expect(after(unsigned, { ...miss, lookedFor: 1 }).transaction.state).toBe('FAILED');
  });
});

describe('a cancellation on the chain', () => {
  const cancel: TransactionEvent = { type: 'cancel', actor: alice };
  const cancelling = () => after(transactionIn('BROADCAST'), cancel).transaction;
  const undone = { ...PREPARED, purpose: 'cancellation' as const, payload: '0x0299' };

  /** Returns a transaction whose cancellation is signed and sent. */
  function out(): Transaction {
    const prepared = after(cancelling(), { type: 'prepare', attempt: undone }).transaction;
    const signed = after(prepared, { type: 'sign', attempt: 2, raw: '0x0299ff', hash: OTHER_HASH }).transaction;
    return after(signed, { type: 'send', attempt: 2, outcome: 'accepted', answer: null }).transaction;
  }
  const mined = (transaction: Transaction, hash: string, confirmations = 3) =>
    after(transaction, { type: 'include', inclusion: inclusion({ hash, confirmations }), confirmationsNeeded: 3 })
      .transaction;

  test('a cancellation requests one further attempt at the same nonce', () => {
    const request = cancelling();
    expect([request.state, request.stateReason, outstandingJob(request)]).toEqual(['BROADCAST', 'CANCELLING', 'sign']);
    expect(after(request, cancel).changed).toBe(false);
    expect(after(request, { type: 'prepare', attempt: PREPARED }).changed).toBe(false);
    expect(after(request, { type: 'prepare', attempt: { ...undone, nonce: '5' } }).changed).toBe(false);
    const sent = out();
    expect([sent.stateReason, outstandingJob(sent)]).toEqual(['CANCELLING', 'confirm']);
  });

  test('a cancellation is signed only after the bytes that are being sent', () => {
    const unsent = transactionIn('BROADCAST', { attempts: [signedAttempt()] });
    const request = after(unsent, cancel).transaction;
    expect(outstandingJob(request)).toBe('broadcast');
    const sent = after(request, { type: 'send', attempt: 1, outcome: 'unknown', answer: 'timeout' }).transaction;
    expect(outstandingJob(sent)).toBe('sign');
  });

  test('a cancelled payment is CANCELLED when the cancellation is deep enough, and releases its nonce when it is final', () => {
    const shallow = mined(out(), OTHER_HASH, 1);
    expect([shallow.state, shallow.stateReason]).toEqual(['CONFIRMING', 'CANCELLING']);
    const done = mined(shallow, OTHER_HASH);
    expect([done.state, done.stateReason, outstandingJob(done)]).toEqual([
      'CANCELLED',
      'CANCELLED_ON_CHAIN',
      'confirm',
    ]);
    const final = inclusion({ hash: OTHER_HASH, confirmations: 9, finalized: true });
    const finalised = after(done, { type: 'include', inclusion: final, confirmationsNeeded: 3 }).transaction;
    expect([finalised.state, outstandingJob(finalised)]).toEqual(['CANCELLED', 'settle']);
    expect(outstandingJob(after(finalised, { type: 'settle' }).transaction)).toBeNull();
  });

  test('a payment that is mined before its cancellation is SUCCEEDED', () => {
    const done = mined(out(), HASH);
    expect([done.state, done.stateReason]).toEqual(['SUCCEEDED', null]);
  });

  test('a cancellation whose block is undone is in flight again, and either attempt can be mined', () => {
    const done = mined(out(), OTHER_HASH);
    const gone = after(done, { type: 'miss', inMempool: false, nonceTaken: false }).transaction;
    expect([gone.state, gone.stateReason, gone.nonceHeld, outstandingJob(gone)]).toEqual([
      'BROADCAST',
      'REORGED',
      true,
      'broadcast',
    ]);
    expect(mined(gone, HASH).state).toBe('SUCCEEDED');
  });

  test('a cancellation above the fee cap is withdrawn, and the attempt in flight is watched as before', () => {
    const given = after(cancelling(), { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' }).transaction;
    expect([given.stateReason, given.cancelling, outstandingJob(given)]).toEqual([
      'FEE_CAP_EXCEEDED',
      false,
      'confirm',
    ]);
    expect(after(given, cancel).transaction.cancelling).toBe(true);
  });

  test('a cancellation can be sped up, and stays a cancellation', () => {
    const faster = after(out(), { type: 'speedUp', actor: alice }).transaction;
    expect(outstandingJob(faster)).toBe('sign');
    expect(after(faster, { type: 'prepare', attempt: PREPARED }).changed).toBe(false);
    expect(after(faster, { type: 'prepare', attempt: undone }).transaction.attempts).toHaveLength(3);
    const given = after(faster, { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' }).transaction;
    expect([given.cancelling, given.attempts.length, outstandingJob(given)]).toEqual([true, 2, 'confirm']);
  });
});

test('after a block is undone, an unsent further attempt is sent and an unsigned one is signed', () => {
  const mined = { state: 'CONFIRMING', inclusion: inclusion() } as const;
  const first = { ...signedAttempt(), sent: { outcome: 'accepted', answer: null, atMs: NOON_MS, times: 1 } } as const;
  const second = { ...signedAttempt(), number: 2, signed: { raw: '0x02ee', hash: OTHER_HASH, atMs: NOON_MS } };
  const miss: TransactionEvent = { type: 'miss', inMempool: false, nonceTaken: false };
  const unsent = after(transactionIn('CONFIRMING', { ...mined, attempts: [first, second] }), miss).transaction;
  expect([unsent.state, unsent.stateReason, outstandingJob(unsent)]).toEqual(['BROADCAST', 'REORGED', 'broadcast']);
  const bare = { ...second, signed: null };
  const unsigned = after(transactionIn('CONFIRMING', { ...mined, attempts: [first, bare] }), miss).transaction;
  expect([unsigned.state, outstandingJob(unsigned)]).toEqual(['BROADCAST', 'sign']);
});
