import type { Address } from '@solana/kit';
import { blockhash, getAddressEncoder } from '@solana/kit';
import { expect, test } from 'vitest';
import type { Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
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

test('a nonce that one of two RPC nodes reports is accepted only when the other one reports the same', async () => {
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
  for (const order of [
    [DEAD, node.url],
    [node.url, DEAD],
  ]) {
    expect(await statedBy(wallet, ...order)).toBe('getGenesisHash: No response.');
  }
  expect(await statedBy(wallet, node.url, DEAD, node.url)).toEqual(honest);
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

test('an account that one RPC node invents is not used while another node leaves one call unanswered', async () => {
  const wallet = funded();
  const honest = await statedBy(wallet, node.url);
  expect(honest).toMatchObject({ anchor: { kind: 'opening' } });
  const busy = await startFalseNode(node.url);
  busy.follow((method) =>
    method === 'getMultipleAccounts' ? { error: { code: -32_005, message: 'Node is behind' } } : 'forward',
  );
  stating(wallet.address, wallet.address);
  for (const order of [
    [liar.url, busy.url],
    [busy.url, liar.url],
  ]) {
    expect(await statedBy(wallet, ...order)).toContain('Node is behind');
  }
  expect(await statedBy(wallet, liar.url, busy.url, node.url)).toBe('The RPC nodes disagree.');
  await busy.stop();
});

test('bytes on a nonce account that does not exist lapse, and the account is opened for the next ones', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const client = clientAt(node.url, node.url);
  const quote = await client.quote(intent, null);
  if (!quote.ok) throw new Error('the real node is fine');
  const slot = node.chain.slot;
  const anchor = { kind: 'nonce', nonceSlot: 0, value: blockhash(new Wallet().address) } as const;
  const composed = client.rules.compose(intent, quote.value, { anchor, slot, validUntil: null });
  const first = attemptOf(composed);
  const signed = client.rules.assemble(intent, first, [wallet.sign(first.payload)]);
  if (!signed.ok) throw new Error(signed.refusal.detail);
  const watched = { from: wallet.address, nonce: 0n, hashes: [signed.value.hash], newest: first, inclusion: null };
  const replacing = { from: wallet.address, nonce: 0n, replaced: first };
  // A state that precedes the anchor may lack an account that exists now.
  const ahead = { ...first, anchoredAt: (slot + 20n).toString() };
  expect((await client.observe({ ...watched, newest: ahead })).ok).toBe(false);
  expect((await client.anchor({ ...replacing, replaced: ahead })).ok).toBe(false);
  node.chain.advance(60n);
  expect(await client.observe(watched)).toEqual({ ok: true, value: { type: 'lapsed' } });
  stating(wallet.address, anchor.value as string as Address);
  // The liar alone states that the bytes can still be executed.
  expect(await clientAt(liar.url, node.url).observe(watched)).toMatchObject({ ok: true, value: { type: 'absent' } });
  const opening = await client.anchor(replacing);
  if (!opening.ok) throw new Error(opening.refusal.detail);
  expect(opening.value.anchor.kind).toBe('opening');
  const second = attemptOf(client.rules.compose(intent, quote.value, opening.value), 2);
  const next = client.rules.assemble(intent, second, [wallet.sign(second.payload)]);
  if (!next.ok) throw new Error(next.refusal.detail);
  await client.broadcast(next.value.raw, next.value.hash);
  node.chain.advance(40n);
  // The earlier bytes are never executed.
  await client.broadcast(signed.value.raw, signed.value.hash);
  node.chain.advance(40n);
  expect([node.chain.entry(next.value.hash)?.error, node.chain.entry(signed.value.hash)]).toEqual([null, null]);
});

test('an opening that was given an impossible lifetime is over when the longest possible one is over', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const client = clientAt(node.url, node.url);
  const [quote, anchor] = [await client.quote(intent, null), await anchorOf(wallet, node.url)];
  if (!quote.ok || !anchor.ok) throw new Error('the real node is fine');
  const newest = { ...attemptOf(client.rules.compose(intent, quote.value, anchor.value)), validUntil: '1000000000' };
  const watched = { from: wallet.address, nonce: 0n, hashes: ['1'.repeat(64)], newest, inclusion: null };
  node.chain.advance(100n);
  const seen = await client.observe(watched);
  const { liveUntil = '0' } = seen.ok && seen.value.type === 'absent' ? seen.value : {};
  expect(BigInt(liveUntil)).toBeGreaterThan(anchor.value.validUntil ?? 0n);
  expect(BigInt(liveUntil)).toBeLessThanOrEqual(node.chain.slot + 300n);
  // One RPC node alone does not shorten it.
  about('getBlockHeight', { result: 1_000_000_000 });
  const disputed = await clientAt(liar.url, node.url).observe(watched);
  expect(disputed).toEqual({ ok: true, value: { type: 'absent', inMempool: false, nonceTaken: false } });
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
