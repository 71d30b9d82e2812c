import { expect, test } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import { projectedTransaction } from '#objects/vault/projection.ts';
import { EXPIRES_AT_MS, inclusion, transactionIn } from '../../domain/cast.ts';

/** Covers when the sweep may have to wake a vault for a record, and by what a list finds it. */

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

test('a list finds a record by each token and each address of others in it', () => {
  const [wallet, token, payee, pool] = ['0xAA', '0xBB', '0xCC', '0xDD'];
  const movement = { uid: 'log:0', kind: 'erc20', tokenId: null, amount: amountOf(1n) } as const;
  const moved = [
    { ...movement, from: wallet, to: pool, tokenAddress: token },
    { ...movement, from: pool, to: wallet, tokenAddress: null },
    { ...movement, from: null, to: wallet, tokenAddress: '0xEe' },
  ];
  const { intent } = transactionIn('DRAFT');
  const paid = { ...intent, kind: 'transfer', from: wallet, to: payee, tokenAddress: null } as typeof intent;
  const row = projectedTransaction(
    transactionIn('SUCCEEDED', { intent: paid, inclusion: inclusion({ movements: moved }) }),
  );
  expect([row.kind, row.tokens, row.counterparties]).toEqual(['transfer', ' 0xbb 0xee ', ' 0xcc 0xdd ']);
  const proposed = projectedTransaction(transactionIn('DRAFT', { intent: paid }));
  expect([proposed.tokens, proposed.counterparties]).toEqual(['', ' 0xcc ']);
});
