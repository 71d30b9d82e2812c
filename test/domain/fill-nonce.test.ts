import { expect, test } from 'vitest';
import type { TransactionEvent } from '#domain/event.ts';
import { outstandingJob } from '#domain/job.ts';
import type { Transaction } from '#domain/transaction.ts';
import { decide } from '#domain/transition.ts';
import { HASH, inclusion, NOON_MS, policy, PREPARED, preparedAttempt, transactionIn, UNSPENT } from './cast.ts';

/** A payment that can not be made any more, and others that wait above its nonce. */

function after(transaction: Transaction, ...events: readonly TransactionEvent[]): Transaction {
  return events.reduce((before, event) => {
    const decided = decide(before, event, { nowMs: NOON_MS, policy, spentOf: UNSPENT });
    if (!decided.ok) throw new Error(`refused: ${decided.refusal.code}`);
    return decided.value.transaction;
  }, transaction);
}

const FILL: TransactionEvent = { type: 'fillNonce', reason: 'INSUFFICIENT_FUNDS', detail: null };
const NOTHING = { ...PREPARED, payload: '0x0299', purpose: 'cancellation' as const };
const MINED = inclusion({ confirmations: 9, finalized: true });

for (const [name, attempts, number] of [
  ['that has no bytes yet', [], 1],
  ['whose bytes nobody signed', [preparedAttempt()], 2],
] as const) {
  test(`of one ${name} only nothing is signed, and it has failed for its own reason`, () => {
    const filling = after(transactionIn('SIGNING', { attempts }), FILL);
    expect([filling.state, filling.stateReason, outstandingJob(filling)]).toEqual([
      'SIGNING',
      'INSUFFICIENT_FUNDS',
      'sign',
    ]);
    // A consumer that has not heard of it comes too late with the payment, and with its signature.
    expect(after(filling, { type: 'prepare', attempt: PREPARED })).toBe(filling);
    const prepared = after(filling, { type: 'prepare', attempt: NOTHING });
    expect(prepared.attempts.at(-1)).toMatchObject({ number, purpose: 'cancellation', signed: null });
    const late: TransactionEvent = { type: 'sign', attempt: number - 1, raw: '0x02aa', hash: `0x${'a'.repeat(64)}` };
    expect(after(prepared, late)).toBe(prepared);
    const sent = after(
      prepared,
      { type: 'sign', attempt: number, raw: '0x02ff', hash: HASH },
      { type: 'send', attempt: number, outcome: 'accepted', answer: null },
    );
    expect([sent.state, sent.stateReason, outstandingJob(sent)]).toEqual(['BROADCAST', 'CANCELLING', 'confirm']);
    const mined = after(sent, { type: 'include', inclusion: MINED, confirmationsNeeded: 3 });
    expect([mined.state, mined.stateReason, outstandingJob(mined)]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', 'settle']);
  });
}

test('where not even that can be had it has failed, for the reason that was first', () => {
  const over = after(transactionIn('SIGNING', { attempts: [] }), FILL, {
    type: 'failSigning',
    reason: 'SIGNING_TIMEOUT',
    detail: null,
  });
  expect([over.state, over.stateReason, outstandingJob(over)]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', 'settle']);
});

test('it is filled once, and never when a payment is signed', () => {
  const filling = after(transactionIn('SIGNING', { attempts: [] }), FILL);
  expect(after(filling, { ...FILL, reason: 'SIGNERS_REFUSED' })).toBe(filling);
  const signed = transactionIn('BROADCAST');
  expect(after(signed, FILL)).toBe(signed);
});
