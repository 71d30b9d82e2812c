import { expect } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Attempt, SendOutcome, Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { CREATED_AT_MS, inclusion, NOON_MS, OTHER_HASH, policy, sentAttempt, transactionIn, UNSPENT } from '../cast.ts';

/** The context of all decisions: noon, with the default policy and no spending. */

export const now = { nowMs: NOON_MS, policy, spentOf: UNSPENT };

/**
 * Applies one event. Returns the fields that change, or null if no field changes. Throws for a
 * refusal.
 */
export function step(before: Transaction, event: TransactionEvent, nowMs = NOON_MS): Partial<Transaction> | null {
  const decided = decide(before, event, { ...now, nowMs });
  if (!decided.ok) throw new Error(decided.refusal.code);
  const { transaction, changed, effects } = decided.value;
  if (!changed) {
    expect([transaction, effects]).toEqual([before, []]);
    return null;
  }
  expect([transaction.version, transaction.updatedAtMs]).toEqual([before.version + 1, nowMs]);
  const written = new Set(['version', 'updatedAtMs']);
  const fields = Object.entries(transaction).filter(
    ([name, value]) => !written.has(name) && value !== before[name as keyof Transaction],
  );
  return Object.fromEntries(fields);
}

/** Returns the record after one event. Throws for a refusal. */
export function after(before: Transaction, event: TransactionEvent, nowMs = NOON_MS): Transaction {
  const decided = decide(before, event, { ...now, nowMs });
  if (!decided.ok) throw new Error(`${event.type}: ${decided.refusal.code}`);
  return decided.value.transaction;
}

/** Returns the record after several events, all of them at noon. */
export function afterEvents(before: Transaction, ...events: readonly TransactionEvent[]): Transaction {
  return events.reduce((record, event) => after(record, event), before);
}

export const broadcast = (attempts: readonly Attempt[], differences: Partial<Transaction> = {}) =>
  transactionIn('BROADCAST', { attempts, ...differences });
/** Returns the send result of an attempt after one send with this outcome. */
export const sentOnce = (outcome: SendOutcome, answer: string | null = null) => ({
  outcome,
  answer,
  atMs: CREATED_AT_MS,
  times: 1,
});
export const sentWith = (outcome: SendOutcome, differences: Partial<Attempt> = {}): Attempt => ({
  ...sentAttempt(),
  ...differences,
  sent: sentOnce(outcome),
});
export const cancellation = { purpose: 'cancellation' } as const;
export const second = { number: 2, signed: { raw: '0x02ee', hash: OTHER_HASH, atMs: CREATED_AT_MS } };

/** Returns the event of a check that found no attempt in a block. */
export const miss = (differences: object = {}): TransactionEvent => ({
  type: 'miss',
  inMempool: false,
  nonceTaken: false,
  ...differences,
});
/**
 * Returns the event of a check that found an attempt in a block, with as many confirmations as
 * required.
 */
export const found = (differences: object = {}): TransactionEvent => ({
  type: 'include',
  inclusion: inclusion({ confirmations: 3, ...differences }),
  confirmationsNeeded: 3,
});
