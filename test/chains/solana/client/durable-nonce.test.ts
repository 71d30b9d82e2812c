import type { Address } from '@solana/kit';
import { getAddressEncoder } from '@solana/kit';
import { expect, test } from 'vitest';
import type { Rule } from '../../false-node.ts';
import { clientAt, attemptOf, payment, Wallet } from '../cast.ts';
import { startLyingNode } from '../lying-node.ts';

/**
 * Covers the durable nonce or blockhash of an attempt, with RPC nodes that lie, lag or do not
 * respond.
 */

const { node, liar, about } = await startLyingNode();

const DEAD = 'http://127.0.0.1:1/';
const SYSTEM = '11111111111111111111111111111111';
const slotNow = () => Number.parseInt(node.chain.slot.toString(), 10);

function funded(): Wallet {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 100_000_000_000n);
  return wallet;
}

const anchorOf = (wallet: Wallet, ...urls: string[]) =>
  clientAt(...urls).anchor({ from: wallet.address, nonce: 0n, replaced: null });

async function statedBy(wallet: Wallet, ...urls: string[]) {
  const anchor = await anchorOf(wallet, ...urls);
  return anchor.ok ? anchor.value : anchor.refusal.detail;
}

/** Signs the next payment of a wallet at its first nonce slot. */
async function signedPayment(wallet: Wallet) {
  const intent = payment(wallet.address);
  const client = clientAt(node.url);
  const [quote, anchor] = [await client.quote(intent, null), await anchorOf(wallet, node.url)];
  if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
  const attempt = attemptOf(client.rules.compose(intent, quote.value, anchor.value));
  const assembled = client.rules.assemble(intent, attempt, [wallet.sign(attempt.payload)]);
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  return { ...assembled.value, payload: attempt.payload };
}

async function send({ raw, hash }: Awaited<ReturnType<typeof signedPayment>>): Promise<void> {
  expect(await clientAt(node.url).broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
  node.chain.advance(40n);
}

/** Returns a wallet whose first payment has opened its nonce account. */
async function withNonce(): Promise<Wallet> {
  const wallet = funded();
  await send(await signedPayment(wallet));
  return wallet;
}

/**
 * Makes the lying RPC node report the nonce account of a wallet with another value, or as absent.
 */
function stating(authority: Address, value: Address | null, slot = slotNow()): void {
  const data = new Uint8Array(80);
  data.set([1, 0, 0, 0, 1, 0, 0, 0]);
  data.set(getAddressEncoder().encode(authority), 8);
  if (value !== null) data.set(getAddressEncoder().encode(value), 40);
  const account = {
    lamports: 1_500_000,
    owner: SYSTEM,
    data: [Buffer.from(data).toString('base64'), 'base64'],
    executable: false,
  };
  const rule: Rule = { result: { context: { slot }, value: [value === null ? null : account] } };
  about('getMultipleAccounts', rule);
}

test('a nonce that only one of two RPC nodes reports is accepted only if the other one does not respond', async () => {
  const wallet = await withNonce();
  const honest = await statedBy(wallet, node.url);
  expect(honest).toMatchObject({ anchor: { kind: 'nonce' }, validUntil: null });
  for (const value of [new Wallet().address, null]) {
    stating(wallet.address, value);
    for (const order of [
      [liar.url, node.url],
      [node.url, liar.url],
    ]) {
      expect(await statedBy(wallet, ...order)).toBe('The RPC nodes disagree.');
    }
    for (const order of [
      [liar.url, node.url, node.url],
      [node.url, liar.url, node.url],
      [node.url, node.url, liar.url],
    ]) {
      expect(await statedBy(wallet, ...order)).toEqual(honest);
    }
  }
  expect(await statedBy(wallet, DEAD, node.url)).toEqual(honest);
  // An RPC node that responds with an invalid nonce account counts as one that responds.
  const stranger = new Wallet();
  stating(stranger.address, stranger.address);
  expect(await statedBy(wallet, liar.url, node.url)).toBe('The nonce account belongs to another wallet.');
  expect(await statedBy(wallet, liar.url, node.url, node.url)).toEqual(honest);
});

test('a nonce that two RPC nodes report at different slots is recorded with the older slot', async () => {
  const wallet = await withNonce();
  const honest = await statedBy(wallet, node.url);
  if (typeof honest === 'string' || honest.anchor.kind !== 'nonce') throw new Error('its account is open');
  stating(wallet.address, honest.anchor.value as Address, 1_000_000_000);
  expect(await statedBy(wallet, liar.url, node.url)).toEqual(honest);
  expect(await statedBy(wallet, node.url, liar.url)).toEqual(honest);
});

test('a blockhash with an impossible lifetime is refused', async () => {
  const wallet = funded();
  const honest = await statedBy(wallet, node.url);
  expect(honest).toMatchObject({ anchor: { kind: 'opening' } });
  expect(await statedBy(wallet, node.url, node.url)).toEqual(honest);
  about('getLatestBlockhash', {
    result: {
      context: { slot: slotNow() },
      value: { blockhash: new Wallet().address, lastValidBlockHeight: 1_000_000_000 },
    },
  });
  for (const urls of [[liar.url], [liar.url, DEAD]]) {
    expect(await statedBy(wallet, ...urls)).toBe('The lifetime of the blockhash is impossibly long.');
  }
});

test("an RPC node behind an attempt's slot is detected, and a slot impossibly far ahead is not waited for", async () => {
  const wallet = await withNonce();
  const honest = await statedBy(wallet, node.url);
  if (typeof honest === 'string' || honest.anchor.kind !== 'nonce') throw new Error('its account is open');
  const intent = payment(wallet.address);
  const quote = await clientAt(node.url).quote(intent, null);
  if (!quote.ok) throw new Error('the real node is fine');
  const watchedAt = (slot: bigint) => {
    const never = { ...honest.anchor, value: new Wallet().address } as typeof honest.anchor;
    const newest = attemptOf(clientAt(node.url).rules.compose(intent, quote.value, { ...honest, anchor: never, slot }));
    return { from: wallet.address, nonce: 0n, hashes: ['1'.repeat(64)], newest, inclusion: null };
  };
  const unexplained = { ok: true, value: { isUnexplained: true } };
  node.chain.advance(100n);
  expect(await clientAt(node.url).observe(watchedAt(honest.slot))).toMatchObject(unexplained);
  expect(await clientAt(node.url).observe(watchedAt(honest.slot + 200n))).toMatchObject({ ok: false });
  expect(await clientAt(node.url).observe(watchedAt(1_000_000_000_000n))).toMatchObject(unexplained);
});

test('a slot that one node reports as used is refused until the payments of that slot are in the chain', async () => {
  const wallet = funded();
  const opening = await signedPayment(wallet);
  const after = async (...predecessors: string[]) => {
    const slot = { from: wallet.address, nonce: 0n, replaced: null, predecessors };
    const anchor = await clientAt(node.url).anchor(slot);
    return anchor.ok ? anchor.value.anchor.kind : anchor.refusal.detail;
  };
  expect(await after()).toBe('opening');
  expect(await after(opening.payload)).toBe('An earlier payment has not opened the nonce account yet.');
  await send(opening);
  const next = await signedPayment(wallet);
  expect(await after(opening.payload)).toBe('nonce');
  expect(await after(opening.payload, next.payload)).toBe('An earlier payment has not used its nonce yet.');
  await send(next);
  expect(await after(opening.payload, next.payload)).toBe('nonce');
});
