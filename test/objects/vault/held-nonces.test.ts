import { expect, test } from 'vitest';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { heldNonces } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { inclusion, PREPARED, sentAttempt, transactionIn } from '../../domain/cast.ts';

/** Covers what the vault returns of its payments in flight to the nonce allocation. */

function heldOf(transaction: Transaction) {
  const { chain, intent } = transaction;
  const storage = { transactionsWithNonces: () => [transaction] };
  const context = { storage, vault: () => ({}) } as unknown as VaultContext;
  return heldNonces(context, { chain, address: intent.from });
}

test('only a payment that one RPC node alone reports as final comes with its bytes', () => {
  const attempts = [sentAttempt()];
  const alone = inclusion({ secondNode: 'away', isFinalForOneNode: true });
  for (const [included, payload] of [
    [alone, PREPARED.payload],
    [inclusion(), null],
    [null, null],
  ] as const) {
    const held = heldOf(transactionIn('BROADCAST', { attempts, inclusion: included }));
    expect(held).toMatchObject([{ nonce: PREPARED.nonce, isFinalForOneNode: payload !== null, payload }]);
  }
});

test('a payment that a person ended keeps its nonce, and reserves no amount', () => {
  const attempts = [sentAttempt()];
  const ended = { attempts, stateReason: 'NONCE_USED_UNEXPLAINED', inclusion: null, watchedSinceMs: 1 };
  expect(heldOf(transactionIn('FAILED', ended))).toMatchObject([
    { nonce: PREPARED.nonce, amounts: [], hasEnded: true, payload: null },
  ]);
  expect(heldOf(transactionIn('BROADCAST', { attempts }))).toMatchObject([{ hasEnded: false }]);
});
