import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { newTransactionId } from '#domain/id.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import {
  alice,
  HASH,
  inclusion,
  NOON_MS,
  OTHER_HASH,
  PREPARED,
  preparedAttempt,
  sentAttempt,
  signedAttempt,
  transactionIn,
  vaultId,
} from '../cast.ts';
import { afterEvents } from '../transaction/step.ts';

/**
 * Covers a payment that cannot be made any more while other payments wait above its nonce. A
 * cancellation fills the nonce.
 */

const FILL: TransactionEvent = { type: 'fillNonce', reason: 'INSUFFICIENT_FUNDS', detail: null };
const NOTHING = { ...PREPARED, payload: '0x0299', purpose: 'cancellation' as const };
const MINED = inclusion({ confirmations: 9, finalized: true });
const include = (hash: string): TransactionEvent => ({
  type: 'include',
  inclusion: { ...MINED, hash },
  confirmationsNeeded: 3,
});

for (const [name, attempts, number] of [
  ['that has no bytes yet', [], 1],
  ['whose bytes are not signed', [preparedAttempt()], 2],
] as const) {
  test(`a payment ${name} is never signed after it was given up, and fails for its own reason`, () => {
    const filling = afterEvents(transactionIn('SIGNING', { attempts }), FILL);
    expect([filling.state, filling.stateReason, outstandingJob(filling)]).toEqual([
      'SIGNING',
      'INSUFFICIENT_FUNDS',
      'sign',
    ]);
    // A late run of the signing job cannot add the payment or its signature any more.
    expect(afterEvents(filling, { type: 'prepare', attempt: PREPARED })).toBe(filling);
    const prepared = afterEvents(filling, { type: 'prepare', attempt: NOTHING });
    expect(prepared.attempts.at(-1)).toMatchObject({ number, purpose: 'cancellation', signed: null });
    const late: TransactionEvent = { type: 'sign', attempt: number - 1, raw: '0x02aa', hash: `0x${'a'.repeat(64)}` };
    expect(afterEvents(prepared, late)).toBe(prepared);
    const sent = afterEvents(
      prepared,
      { type: 'sign', attempt: number, raw: '0x02ff', hash: HASH },
      { type: 'send', attempt: number, outcome: 'accepted', answer: null },
    );
    expect([sent.state, sent.stateReason, outstandingJob(sent)]).toEqual(['BROADCAST', 'CANCELLING', 'confirm']);
    const mined = afterEvents(sent, { type: 'include', inclusion: MINED, confirmationsNeeded: 3 });
    expect([mined.state, mined.stateReason, outstandingJob(mined)]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', 'settle']);
  });
}

test('a payment whose nonce cannot be filled either has failed, for its first reason', () => {
  const over = afterEvents(transactionIn('SIGNING', { attempts: [] }), FILL, {
    type: 'failSigning',
    reason: 'SIGNING_TIMEOUT',
    detail: null,
  });
  expect([over.state, over.stateReason, outstandingJob(over)]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', 'settle']);
});

test('a nonce is filled once, and never when a payment is signed', () => {
  const filling = afterEvents(transactionIn('SIGNING', { attempts: [] }), FILL);
  expect(afterEvents(filling, { ...FILL, reason: 'SIGNERS_REFUSED' })).toBe(filling);
  const signed = transactionIn('BROADCAST');
  expect(afterEvents(signed, FILL)).toBe(signed);
});

const BLOCKING: TransactionEvent = { type: 'refuseBroadcast', attempt: 1, answer: 'overshot', blocksOthers: true };
const refusedPayment = () => transactionIn('BROADCAST', { attempts: [signedAttempt()] });

test('a payment that no RPC node accepts fails, and is cancelled at its nonce when others wait above it', () => {
  const filling = afterEvents(refusedPayment(), BLOCKING);
  expect([filling.state, filling.stateReason, filling.givenUp, outstandingJob(filling)]).toEqual([
    'BROADCAST',
    'REJECTED_BY_NODE',
    'REJECTED_BY_NODE',
    'sign',
  ]);
  expect(filling.attempts[0]?.sent).toMatchObject({ outcome: 'refused', answer: 'overshot', times: 1 });
  // Only a cancellation can follow. The payment is neither sped up nor resumed.
  expect(afterEvents(filling, { type: 'prepare', attempt: PREPARED })).toBe(filling);
  expect(afterEvents(filling, { type: 'speedUp', actor: alice })).toBe(filling);
  expect(afterEvents(filling, { type: 'abandonReplacement', reason: 'FEE_CAP_EXCEEDED' })).toBe(filling);
  const sent = afterEvents(
    filling,
    { type: 'prepare', attempt: NOTHING },
    { type: 'sign', attempt: 2, raw: '0x02ee', hash: OTHER_HASH },
    { type: 'send', attempt: 2, outcome: 'accepted', answer: null },
  );
  expect([sent.state, outstandingJob(sent)]).toEqual(['BROADCAST', 'confirm']);
  expect(afterEvents(sent, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null })).toBe(sent);
  const mined = afterEvents(sent, include(OTHER_HASH));
  expect([mined.state, mined.stateReason]).toEqual(['FAILED', 'REJECTED_BY_NODE']);
  // An RPC node had accepted the payment after all, and a block includes it.
  expect(afterEvents(sent, include(HASH)).state).toBe('SUCCEEDED');
});

test('a payment that no RPC node accepts has failed when none waits above it', () => {
  const failed = afterEvents(refusedPayment(), { ...BLOCKING, blocksOthers: false });
  expect([failed.state, failed.givenUp ?? null, outstandingJob(failed)]).toEqual(['FAILED', null, 'settle']);
});

test('a payment that was never broadcast fails and frees its nonce when co-signers refuse its cancellation', () => {
  const fail: TransactionEvent = { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null };
  const failed = afterEvents(refusedPayment(), BLOCKING, { type: 'prepare', attempt: NOTHING }, fail);
  expect([failed.state, failed.stateReason, outstandingJob(failed)]).toEqual(['FAILED', 'REJECTED_BY_NODE', 'settle']);
  const unrefused = transactionIn('BROADCAST', { attempts: [sentAttempt()] });
  expect(afterEvents(unrefused, fail)).toBe(unrefused);
});

test('a payment whose bytes may be out is cancelled if it blocks others, and does not fail because of a refusal', () => {
  const maybeOut = afterEvents(refusedPayment(), { type: 'send', attempt: 1, outcome: 'unknown', answer: 'timeout' });
  const filling = afterEvents(maybeOut, BLOCKING);
  expect([filling.givenUp, outstandingJob(filling)]).toEqual(['REJECTED_BY_NODE', 'sign']);
  expect(afterEvents(filling, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null })).toBe(filling);
  // If the cancellation cannot be made, it is withdrawn and the payment is watched again.
  const kept = afterEvents(filling, { type: 'abandonReplacement', reason: 'SIGNERS_REFUSED' });
  expect([kept.state, kept.cancelling, kept.givenUp, outstandingJob(kept)]).toEqual([
    'BROADCAST',
    false,
    null,
    'confirm',
  ]);
});

test('a refused replacement does not cancel the earlier attempt that is out', () => {
  const replaced = { ...signedAttempt(), number: 2, signed: { raw: '0x02ee', hash: OTHER_HASH, atMs: NOON_MS } };
  const both = transactionIn('BROADCAST', { attempts: [sentAttempt(), replaced] });
  const refused = afterEvents(both, { ...BLOCKING, attempt: 2 });
  expect([refused.cancelling, refused.givenUp ?? null, outstandingJob(refused)]).toEqual([false, null, 'confirm']);
  // A payment that a person cancels is not given up either.
  const cancelled = afterEvents(
    transactionIn('BROADCAST', { attempts: [signedAttempt()], cancelling: true }),
    BLOCKING,
  );
  expect([cancelled.givenUp ?? null, outstandingJob(cancelled)]).toEqual([null, 'sign']);
});

test('a payment that waits for a lower nonce names the owner of that nonce while it waits', () => {
  const [, other] = [1, 2].map((one) => newTransactionId(vaultId, NOON_MS, new Uint8Array(10).fill(one)));
  const blocker = { transactionId: other ?? null };
  for (const [state, usual] of [
    ['BROADCAST', null],
    ['SIGNING', 'SIGNER_UNAVAILABLE'],
  ] as const) {
    const before = transactionIn(state, { stateReason: usual });
    const waiting = afterEvents(before, { type: 'waitForNonce', blocker });
    expect([waiting.stateReason, waiting.waitsFor]).toEqual(['WAITS_FOR_NONCE', other]);
    expect(afterEvents(waiting, { type: 'waitForNonce', blocker })).toBe(waiting);
  }
  const waiting = afterEvents(transactionIn('BROADCAST'), { type: 'waitForNonce', blocker });
  const hole = afterEvents(waiting, { type: 'waitForNonce', blocker: { transactionId: null } });
  expect([hole.stateReason, hole.waitsFor]).toEqual(['WAITS_FOR_NONCE', null]);
  const next = afterEvents(waiting, { type: 'waitForNonce', blocker: null });
  expect([next.stateReason, next.waitsFor]).toEqual([null, null]);
  const mined = afterEvents(waiting, include(HASH));
  expect([mined.state, mined.waitsFor]).toEqual(['SUCCEEDED', null]);
  // A more specific reason is not replaced, and a payment that does not wait has no such reason to
  // remove.
  const refused = transactionIn('BROADCAST', { stateReason: 'REFUSED_BY_NODE' });
  expect(afterEvents(refused, { type: 'waitForNonce', blocker })).toBe(refused);
  expect(afterEvents(refused, { type: 'waitForNonce', blocker: null })).toBe(refused);
  const cancelling = afterEvents(transactionIn('BROADCAST', { cancelling: true, stateReason: 'CANCELLING' }), {
    type: 'waitForNonce',
    blocker,
  });
  expect(cancelling.stateReason).toBe('WAITS_FOR_NONCE');
  expect(afterEvents(cancelling, { type: 'waitForNonce', blocker: null }).stateReason).toBe('CANCELLING');
});
