import { describe, expect, test } from 'vitest';
import { signedAmountOf } from '#domain/asset/amount.ts';
import type { FailureReason, TransactionEvent } from '#domain/transaction/event.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { Inclusion, TokenTransfer } from '#domain/transaction/transaction.ts';
import { amount, inclusion, NOON_MS, OTHER_HASH, sentAttempt, signedAttempt, transactionIn } from '../cast.ts';
import { broadcast, cancellation, second, sentOnce, sentWith, step } from './step.ts';

/**
 * Covers exactly which fields of a record change when a block includes an attempt, and when no
 * block does.
 */

describe('a block', () => {
  const found = (differences: Parameters<typeof inclusion>[0] = {}, needed = 3): TransactionEvent => {
    return { type: 'include', inclusion: inclusion(differences), confirmationsNeeded: needed };
  };
  const reported = { stateReason: 'REBROADCASTING' };
  const cancelled = [sentAttempt(), sentWith('accepted', { ...second, ...cancellation })];

  test('a block does not end the payment until it is deep enough', () => {
    const shallow = inclusion({ confirmations: 2 });
    const waiting = { state: 'CONFIRMING', stateReason: null, inclusion: shallow };
    expect(step(broadcast([sentAttempt()], reported), found({ confirmations: 2 }))).toEqual(waiting);
    const done = { state: 'SUCCEEDED', stateReason: null, inclusion: inclusion({ confirmations: 3 }) };
    expect(step(broadcast([sentAttempt()], reported), found({ confirmations: 3 }))).toEqual(done);
    const of = { hash: OTHER_HASH, confirmations: 2 };
    expect(step(broadcast(cancelled, reported), found(of))).toEqual({
      state: 'CONFIRMING',
      stateReason: 'CANCELLING',
      inclusion: inclusion(of),
    });
  });

  test('a block that is deep enough states the result of the transaction', () => {
    const deep = { confirmations: 3 };
    const reverted = { ...deep, succeeded: false };
    expect(step(broadcast([sentAttempt()]), found(reverted))).toEqual({
      state: 'FAILED',
      stateReason: 'REVERTED',
      inclusion: inclusion(reverted),
    });
    const other = { ...deep, hash: OTHER_HASH };
    const ended = (state: string, stateReason: string) => ({ state, stateReason, inclusion: inclusion(other) });
    expect(step(broadcast(cancelled), found(other))).toEqual(ended('CANCELLED', 'CANCELLED_ON_CHAIN'));
    const gaveUp = { givenUp: 'INSUFFICIENT_FUNDS' as FailureReason };
    expect(step(broadcast(cancelled, gaveUp), found(other))).toEqual(ended('FAILED', 'INSUFFICIENT_FUNDS'));
    // The block includes the payment and not the cancellation.
    expect(step(broadcast(cancelled, gaveUp), found(deep))?.state).toBe('SUCCEEDED');
    expect(step(broadcast([sentAttempt()]), found(other))).toBeNull();
  });

  test('a payment with status 1 failed only when its balances prove that the token did not move', () => {
    const ended = (tokenTransfer: TokenTransfer) => {
      const change = step(broadcast([sentAttempt()]), found({ confirmations: 3, tokenTransfer }));
      return [change?.state, change?.stateReason ?? null, change?.inclusion?.succeeded];
    };
    expect(ended('moved')).toEqual(['SUCCEEDED', null, true]);
    expect(ended('unproven')).toEqual(['SUCCEEDED', 'TRANSFER_NOT_LOGGED', true]);
    expect(ended('unmoved')).toEqual(['FAILED', 'TOKEN_NOT_MOVED', true]);
  });

  test('a later proof of an open payment changes its end, and the same answer changes nothing', () => {
    const open = inclusion({ confirmations: 3, tokenTransfer: 'unproven' });
    const sent = transactionIn('SUCCEEDED', { stateReason: 'TRANSFER_NOT_LOGGED', inclusion: open });
    const later = (differences: Parameters<typeof inclusion>[0]) =>
      step(sent, found({ confirmations: 9, ...differences }));
    expect(later({ tokenTransfer: 'unproven' })).toBeNull();
    expect(later({ tokenTransfer: 'moved' })).toMatchObject({ stateReason: null });
    expect(later({})).toMatchObject({ stateReason: null });
    expect(later({ tokenTransfer: 'unmoved' })).toMatchObject({ state: 'FAILED', stateReason: 'TOKEN_NOT_MOVED' });
    const last = later({ tokenTransfer: 'unproven', finalized: true });
    expect(last).toEqual({ inclusion: { ...open, confirmations: 9, finalized: true } });
  });

  test('an inclusion is a change when any part of it differs', () => {
    const before = transactionIn('CONFIRMING', { inclusion: inclusion({ confirmations: 1 }) });
    expect(step(before, found({ confirmations: 1 }))).toBeNull();
    for (const changes of [{ confirmations: 2 }, { blockHash: `0x${'b2'.repeat(32)}` }, { finalized: true }]) {
      expect(step(before, found({ confirmations: 1, ...changes }))?.inclusion).toMatchObject(changes);
    }
    const replaced = { ...before, attempts: [sentAttempt(), sentWith('accepted', second)] };
    expect(step(replaced, found({ hash: OTHER_HASH }))?.inclusion).toMatchObject({ hash: OTHER_HASH });
  });

  test('a new inclusion of a finished transaction is a change when it is final, or in another block', () => {
    const done = transactionIn('SUCCEEDED');
    expect(step(done, found({ confirmations: 9 }))).toBeNull();
    const final = inclusion({ confirmations: 9, finalized: true });
    expect(step(done, found({ confirmations: 9, finalized: true }))).toEqual({ inclusion: final });
    const elsewhere = { confirmations: 3, blockHash: `0x${'b2'.repeat(32)}` };
    expect(step(done, found(elsewhere))).toEqual({ inclusion: inclusion(elsewhere) });
    expect(step(transactionIn('SUCCEEDED', { inclusion: null }), found({ confirmations: 3 }))).toBeNull();
  });

  test('a block sets the display type of a contract call, and not that of a transfer', () => {
    const asset = { kind: 'erc721', tokenAddress: OTHER_HASH.slice(0, 42), tokenId: '1' } as const;
    const minted: BalanceChange = { ...asset, units: signedAmountOf(1n), isMinted: true, isCash: false };
    const { vaultId, transactionId, chain, from, policyVersion, policyHash, note, createdAtMs, expiresAtMs } =
      transactionIn('SUBMITTED').intent;
    const frame = { vaultId, transactionId, chain, from, policyVersion, policyHash, note, createdAtMs, expiresAtMs };
    const terms = {
      to: OTHER_HASH.slice(0, 42),
      data: '0x',
      value: amount('0'),
      maxFee: amount('1'),
      lookalikeOf: null,
    };
    const call = {
      intent: { ...frame, ...terms, kind: 'contract-interaction' },
      displayType: 'CONTRACT_INTERACTION',
    } as const;
    const changes = [minted];
    expect(step(broadcast([sentAttempt()], call), found({ changes }))?.displayType).toBe('MINTED');
    expect(step(broadcast([sentAttempt()]), found({ changes }))?.displayType).toBeUndefined();
    const mined = transactionIn('CONFIRMING', { ...call, displayType: 'MINTED' });
    const gone: TransactionEvent = { type: 'miss', inMempool: false, nonceTaken: false };
    expect(step(mined, gone)?.displayType).toBe('CONTRACT_INTERACTION');
  });
});

describe('no block', () => {
  const miss = (inMempool: boolean, nonceTaken: boolean): TransactionEvent => ({ type: 'miss', inMempool, nonceTaken });

  test('the same bytes are sent again after the mempool dropped them', () => {
    const sent = sentOnce('unknown', 'The transaction is not in the mempool.');
    for (const outcome of ['accepted', 'refused'] as const) {
      expect(step(broadcast([sentWith(outcome)]), miss(false, false))).toEqual({
        stateReason: 'REBROADCASTING',
        attempts: [{ ...sentAttempt(), sent }],
      });
    }
    for (const attempts of [
      [],
      [signedAttempt()],
      [sentWith('unknown')],
      [sentWith('underpriced')],
      [sentWith('lapsed')],
    ]) {
      expect(step(broadcast(attempts), miss(false, false))).toBeNull();
    }
    expect(step(broadcast([sentAttempt()]), miss(true, false))).toBeNull();
    const taken = { state: 'FAILED', stateReason: 'CONFLICTED', watchedSinceMs: NOON_MS };
    for (const inMempool of [true, false]) expect(step(broadcast([]), miss(inMempool, true))).toEqual(taken);
  });

  test('a transaction whose block is undone is in flight again, and holds its nonce again', () => {
    const sent = sentOnce('unknown', 'A reorg removed the block of the transaction.');
    const back = { state: 'BROADCAST', stateReason: 'REORGED', inclusion: null };
    const attempts = [{ ...sentAttempt(), sent }];
    expect(step(transactionIn('CONFIRMING'), miss(false, false))).toEqual({ ...back, attempts });
    expect(step(transactionIn('SUCCEEDED', { nonceHeld: false }), miss(false, true))).toEqual({
      ...back,
      attempts,
      nonceHeld: true,
    });
    for (const nothing of [null, inclusion({ finalized: true })]) {
      expect(step(transactionIn('SUCCEEDED', { inclusion: nothing }), miss(false, false))).toBeNull();
    }
    expect(step(transactionIn('CONFIRMING', { attempts: [] }), miss(false, false))).toEqual(back);
    // The earlier attempt was mined, and the newest one is signed and not sent yet.
    const waiting = [sentAttempt(), { ...signedAttempt(), ...second }];
    expect(step(transactionIn('CONFIRMING', { attempts: waiting }), miss(false, false))).toEqual(back);
  });
});

test('a nonce is settled when the block is final, or when the transaction has failed without a block', () => {
  const settle: TransactionEvent = { type: 'settle' };
  const final = { inclusion: inclusion({ finalized: true }) };
  expect(step(transactionIn('SUCCEEDED', final), settle)).toEqual({ nonceHeld: false });
  expect(step(transactionIn('FAILED', { inclusion: null }), settle)).toEqual({ nonceHeld: false });
  expect(step(transactionIn('SUCCEEDED', { ...final, nonceHeld: false }), settle)).toBeNull();
  expect(step(transactionIn('SUCCEEDED'), settle)).toBeNull();
});

test('a final block that the chain no longer has is named once, and the state of the record stays', () => {
  const gone: TransactionEvent = { type: 'gone' };
  const final = { inclusion: inclusion({ finalized: true }) };
  for (const state of ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const) {
    expect(step(transactionIn(state, final), gone)).toEqual({ stateReason: 'FINAL_BLOCK_GONE' });
    expect(step(transactionIn(state, { ...final, stateReason: 'FINAL_BLOCK_GONE' }), gone)).toBeNull();
    // Its own polls report what happens to a block that is not final.
    expect(step(transactionIn(state), gone)).toBeNull();
  }
});

test('a final record takes the contents that two RPC nodes state otherwise, and keeps its state', () => {
  const paid = {
    ...NATIVE,
    isMinted: false,
    isCash: true,
    units: signedAmountOf(-7n),
  };
  const final = inclusion({ finalized: true, usdValue: { usd: '5.00', pricedAtMs: 1 }, changes: [paid] });
  const stated = (differences: Partial<Inclusion>): TransactionEvent => ({
    type: 'correct',
    inclusion: inclusion({ finalized: true, secondNode: 'agrees', changes: [paid], ...differences }),
  });
  const other = { feePaid: amount('22') };
  for (const state of ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const) {
    expect(step(transactionIn(state, { inclusion: final, stateReason: null }), stated(other))).toMatchObject({
      inclusion: { ...final, ...other, usdValue: null },
      stateReason: 'CONTENTS_CORRECTED',
    });
  }
  const changes = [{ ...paid, units: signedAmountOf(-8n) }];
  const record = transactionIn('SUCCEEDED', { inclusion: final, stateReason: 'TRANSFER_NOT_LOGGED' });
  // The reason that requires a check stays.
  expect(Object.keys(step(record, stated({ changes })) ?? {})).toEqual(['inclusion']);
  expect(step(record, stated({ changes: [] }))).toMatchObject({ inclusion: { changes: [] } });
  // What one node states, of this or another block, corrects nothing.
  expect(step(record, stated({}))).toBeNull();
  expect(step(record, stated({ ...other, finalized: false }))).toBeNull();
  expect(step(record, stated({ ...other, secondNode: 'away' }))).toBeNull();
  expect(step(record, stated({ ...other, blockHash: '0xb2' }))).toBeNull();
  const open = transactionIn('SUCCEEDED', { inclusion: { ...final, finalized: false } });
  expect(step(open, stated(other))).toBeNull();
});
