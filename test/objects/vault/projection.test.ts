import { expect, test } from 'vitest';
import { projectedTransaction } from '#objects/vault/projection.ts';
import { EXPIRES_AT_MS, inclusion, transactionIn } from '../../domain/cast.ts';

/** Covers when the sweep may have to wake a vault for a record. */

const HOUR_MS = 60 * 60_000;
const dueOf = (...given: Parameters<typeof transactionIn>) => projectedTransaction(transactionIn(...given)).dueAtMs;
const { updatedAtMs } = transactionIn('DRAFT');

test('a proposal is due at the end of its decision period, and a payment in flight at once', () => {
  for (const state of ['DRAFT', 'SUBMITTED'] as const) expect(dueOf(state)).toBe(EXPIRES_AT_MS);
  for (const state of ['SIGNING', 'BROADCAST', 'CONFIRMING'] as const) expect(dueOf(state)).toBe(updatedAtMs);
});

test('a payment that is done and not final is due an hour later, and one without a job never', () => {
  const settling = { inclusion: inclusion({ finalized: false }) };
  expect(dueOf('SUCCEEDED', settling)).toBe(updatedAtMs + HOUR_MS);
  expect(dueOf('SUCCEEDED', { inclusion: inclusion({ finalized: true }), nonceHeld: false })).toBeNull();
  expect(dueOf('REJECTED')).toBeNull();
  const givenUp = { inclusion: null, nonceHeld: false, stateReason: 'CONFLICTED', watchedSinceMs: 1 };
  expect(dueOf('FAILED', givenUp)).toBeNull();
});
