import { expect, test } from 'vitest';
import { parseTransactionId, parseVaultId } from '#domain/id.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { UNPRICED } from '../../domain/cast.ts';
import type { Treasury } from '../scene.worker.ts';
import { call, coordinator, created, foundTreasury, RECIPIENT, WALLET } from '../scene.worker.ts';
import { holdingsAt } from '../../chains/readings.ts';

/**
 * Covers the balances of a vault, as its members see them. These tests have no chain. test/e2e has
 * one.
 */

const token = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;

const READABLE = {
  symbol: 'DUSD',
  decimals: 6,
  price: UNPRICED.native.price,
  isListed: false,
  imitates: null,
  hasPhishingText: false,
};

/** Records payments of bob to the vault, in a block that may still be reorganised. */
async function receives(treasury: Treasury, hash: string, tokens: readonly string[]): Promise<void> {
  const vaultId = parseVaultId(treasury.id);
  if (vaultId === null) throw new Error('the vault has a number');
  const parties = { from: RECIPIENT, to: WALLET, tokenId: null, amount: amountOf(7n) };
  const movements = tokens.map((tokenAddress, i) => {
    return { uid: `log:${i}`, kind: 'erc20' as const, tokenAddress, ...parties };
  });
  const block = { number: '3', hash: '0xb3', confirmations: 1, isFinal: false };
  const seen = { hash, signer: RECIPIENT, fee: amountOf(1n), block, movements };
  await vaultStub(coordinator, vaultId).report({
    type: 'recordActivity',
    chain: 'anvil',
    hash,
    seen,
    valuation: { ...UNPRICED, tokens: tokens.map((address) => ({ ...READABLE, address })) },
  });
}

test('a new wallet has a balance of zero, which is not compared yet', async () => {
  const treasury = await foundTreasury();
  const { body } = await call(`GET /vault/${treasury.id}/balances`, { token: treasury.victor.token });
  expect(body).toEqual({
    balances: [
      {
        chain: 'anvil',
        wallet: WALLET,
        kind: 'native',
        asset: { tokenAddress: null, symbol: 'ETH', decimals: 18, trust: 'native', imitates: null },
        tokenId: null,
        visible: true,
        amount: '0',
        current: '0',
        incoming: '0',
        outgoing: '0',
        outgoingMined: '0',
        agreement: 'unchecked',
        usdValue: null,
        pricedAt: null,
        checkedBlock: null,
        checkedAt: null,
        adjustment: null,
      },
    ],
    nextCursor: null,
  });
});

test('a decided payment is pending out at once, and no longer when it fails', async () => {
  const treasury = await foundTreasury();
  const outgoing = async () => {
    const { body } = await call(`GET /vault/${treasury.id}/balances`, { token: treasury.victor.token });
    const { outgoing: all, outgoingMined } = body['balances'][0];
    expect(outgoingMined).toBe('0');
    return all;
  };
  const { body } = await created(treasury, { amount: '900' });
  expect(await outgoing()).toBe('0');
  for (const { token: approver } of [treasury.alice, treasury.bob]) {
    await call(`POST /transaction/${body['id']}/approve`, { token: approver });
  }
  expect(await outgoing()).toBe('900');
  const [id, vaultId] = [parseTransactionId(body['id']), parseVaultId(treasury.id)];
  if (id === null || vaultId === null) throw new Error('the ids must parse');
  await vaultStub(coordinator, vaultId).report({
    type: 'recordEvent',
    id,
    event: { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null },
  });
  expect(await outgoing()).toBe('0');
});

test('a final payment may spend a deposit that is not final, and differs from the chain without that deposit', async () => {
  const treasury = await foundTreasury();
  const vaultId = parseVaultId(treasury.id);
  if (vaultId === null) throw new Error('the vault has a number');
  const vault = vaultStub(coordinator, vaultId);
  const happens = (hash: string, of: { block: number; isFinal: boolean; from: string; to: string; amount: bigint }) => {
    const { block: number, isFinal, from, to, amount } = of;
    const block = { number: String(number), hash: `0xb${number}`, confirmations: 5, isFinal };
    const movement = { uid: 'top', kind: 'native' as const, tokenAddress: null, tokenId: null };
    const movements = [{ ...movement, from, to, amount: amountOf(amount) }];
    const seen = { hash, signer: from, fee: amountOf(1n), block, movements };
    return vault.report({ type: 'recordActivity', chain: 'anvil', hash, seen, valuation: UNPRICED });
  };
  const shown = async () => {
    const { body } = await call(`GET /vault/${treasury.id}/balances`, { token: treasury.alice.token });
    const { amount, current, incoming, agreement } = body['balances'][0];
    return [amount, current, incoming, agreement];
  };
  await happens('0xa', { block: 3, isFinal: false, from: RECIPIENT, to: WALLET, amount: 7n });
  await happens('0xb', { block: 4, isFinal: true, from: WALLET, to: RECIPIENT, amount: 2n });
  const native = { chain: 'anvil', kind: 'native', tokenAddress: null, tokenId: null } as const;
  const held = holdingsAt(5, [4n]);
  await vault.report({ type: 'recordHoldings', chain: 'anvil', assets: [native], held, hasOpenScan: false });
  expect(await shown()).toEqual(['0', '4', '7', 'agrees']);
  await vault.report({ type: 'recordActivity', chain: 'anvil', hash: '0xa', seen: null, valuation: null });
  expect(await shown()).toEqual(['0', '0', '0', 'differs']);
});

test('the list has pages of a hundred, and a caller who has the newest version gets 304', async () => {
  const treasury = await foundTreasury();
  const all = Array.from({ length: 130 }, (_, i) => token(i + 1));
  await receives(treasury, '0xa', all.slice(0, 90));
  await receives(treasury, '0xb', all.slice(90));
  const path = `GET /vault/${treasury.id}/balances`;
  const first = await call(path, { token: treasury.alice.token });
  expect([first.body['balances'].length, first.body['balances'][1].incoming]).toEqual([100, '7']);
  const cursor = encodeURIComponent(first.body['nextCursor']);
  const second = await call(`${path}?cursor=${cursor}`, { token: treasury.alice.token });
  const listed = [...first.body['balances'], ...second.body['balances']].map(({ asset }) => asset.tokenAddress);
  expect([listed, second.body['nextCursor']]).toEqual([[null, ...all], null]);
  const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
  expect((await call(path, { token: treasury.alice.token, headers })).status).toBe(304);
});

test.each(['x', '%22', btoa('[]'), btoa('["anvil"]'), btoa('{"chain":"anvil"}'), btoa('[1,null,null]')])(
  'the cursor %j is refused',
  async (cursor) => {
    const { id, alice } = await foundTreasury();
    const { status, body } = await call(`GET /vault/${id}/balances?cursor=${cursor}`, { token: alice.token });
    expect([status, body['errors']?.[0]?.pointer]).toEqual([400, 'cursor']);
  },
);
