import { expect } from 'vitest';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Attempt, SendOutcome, Transaction } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { CREATED_AT_MS, NOON_MS, OTHER_HASH, policy, sentAttempt, transactionIn, UNSPENT } from '../cast.ts';

/** One step of the table, as what it writes into a record. */

export const now = { nowMs: NOON_MS, policy, spentOf: UNSPENT };

/** The fields that are others afterwards; null where nothing has changed. Throws for a refusal. */
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

export const broadcast = (attempts: readonly Attempt[], differences: Partial<Transaction> = {}) =>
  transactionIn('BROADCAST', { attempts, ...differences });
export const sentWith = (outcome: SendOutcome, differences: Partial<Attempt> = {}): Attempt => ({
  ...sentAttempt(),
  ...differences,
  sent: { outcome, answer: null, atMs: CREATED_AT_MS, times: 1 },
});
export const cancellation = { purpose: 'cancellation' } as const;
export const second = { number: 2, signed: { raw: '0x02ee', hash: OTHER_HASH, atMs: CREATED_AT_MS } };
