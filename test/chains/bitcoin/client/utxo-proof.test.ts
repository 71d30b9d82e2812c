import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { utxosIn } from '#chains/bitcoin/rules/transaction.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { present } from '../../evm/cast.ts';
import { clientAt, attemptOf, BTC, bytesOf, payment, regtest, sourceOf, stranger, units, Wallet } from '../cast.ts';

/**
 * Covers the UTXOs that a server lists: no transaction uses one that does not exist, is different,
 * or cannot be spent yet.
 */

/**
 * Starts a server in front of the regtest that answers some paths by itself; for `undefined` it
 * forwards the request.
 */
type Lie = (path: string) => Promise<string | null | undefined> | string | null | undefined;

let node: BitcoinNode;
let liar: { readonly url: string; lie: Lie; readonly stop: () => void };
let wallet: Wallet;

beforeAll(async () => {
  node = await startBitcoinNode();
  liar = await startLiar(node.url);
});
beforeEach(() => {
  wallet = new Wallet();
});
afterEach(() => {
  liar.lie = () => undefined;
});
afterAll(async () => {
  liar.stop();
  await node.stop();
});

async function startLiar(url: string) {
  const one: { lie: Lie } = { lie: () => undefined };
  const answer = async ({ url: path = '/' }: IncomingMessage, response: ServerResponse) => {
    const own = await one.lie(path);
    if (own === null) return void response.writeHead(404).end('Not found');
    if (own !== undefined) return void response.writeHead(200).end(own);
    const reply = await fetch(`${url}${path}`);
    response.writeHead(reply.status).end(await reply.text());
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  const stop = () => void (server.closeAllConnections(), server.close());
  return Object.assign(one, { url: `http://127.0.0.1:${bound.port}`, stop });
}

interface ListedUtxo {
  readonly txid: string;
  readonly vout: number;
  readonly value: number;
}

/** Returns the list of the server with additional UTXOs, in a block that is deep enough. */
async function listed(path: string, more: readonly ListedUtxo[]): Promise<string | undefined> {
  if (!path.endsWith('/utxo')) return undefined;
  const there: unknown[] = await (await fetch(`${node.url}${path}`)).json();
  const status = { confirmed: true, block_height: 1, block_hash: node.chain.blockHash(1) };
  return JSON.stringify([...there, ...more.map((utxo) => ({ ...utxo, status }))]);
}

/**
 * The false UTXO is smaller than the existing UTXOs, because the smallest sufficient one is chosen
 * first.
 */
const FALSE_UTXO = { txid: 'ab'.repeat(32), vout: 0, value: 150_000_000 };

async function utxosOf(urls: readonly string[], amount: bigint = BTC): Promise<readonly string[] | string> {
  const quote = await clientAt(...urls).quote(payment(wallet.address, { amount: units(amount) }), null);
  if (quote.ok) return quote.value.utxos ?? [];
  return quote.refusal.kind === 'permanent' ? quote.refusal.reason : quote.refusal.kind;
}

test('a UTXO whose transaction the server does not show is not used', async () => {
  const real = node.chain.fund(wallet.address, 2n * BTC);
  liar.lie = (path) => listed(path, [FALSE_UTXO]);
  expect(await utxosOf([liar.url])).toEqual([`${real}:0`]);
});

test('the payment waits and does not fail if the remaining UTXOs do not suffice', async () => {
  node.chain.fund(wallet.address, 2n * BTC);
  liar.lie = (path) => listed(path, [FALSE_UTXO]);
  expect(await utxosOf([liar.url], 3n * BTC)).toBe('busy');
  expect(await utxosOf([node.url], 3n * BTC)).toBe('INSUFFICIENT_FUNDS');
  // One server lists the UTXO and the other does not, so neither its existence nor its absence is
  // proven.
  expect(await utxosOf([node.url, liar.url], 3n * BTC)).toBe('busy');
});

test('a UTXO that has a smaller value than listed, or another owner, is not used', async () => {
  const real = node.chain.fund(wallet.address, 2n * BTC);
  const small = node.chain.fund(wallet.address, BTC / 2n);
  const foreign = node.chain.fund(stranger(), (3n * BTC) / 2n);
  const lies = [
    { txid: small, vout: 0, value: 150_000_000 },
    { txid: foreign, vout: 0, value: 150_000_000 },
    { txid: real, vout: 1, value: 150_000_000 },
  ];
  for (const lie of lies) {
    liar.lie = (path) => listed(path, [lie]);
    expect(await utxosOf([liar.url])).toEqual([`${real}:0`]);
  }
  liar.lie = (path) => listed(path, lies);
  expect(await utxosOf([liar.url])).toEqual([`${real}:0`]);
});

test('a transaction that a server invents, with its bytes, is not used while another server does not have it', async () => {
  const real = node.chain.fund(wallet.address, 2n * BTC);
  const { raw, utxo } = sourceOf(present(scriptOf(regtest, wallet.address)), BTC + BTC / 2n);
  liar.lie = (path) =>
    path === `/tx/${utxo.txid}/hex` ? raw : listed(path, [{ txid: utxo.txid, vout: utxo.vout, value: 150_000_000 }]);
  expect(await utxosOf([liar.url, node.url])).toEqual([`${real}:0`]);
  expect(await utxosOf([node.url, liar.url])).toEqual([`${real}:0`]);
  // A single configured server is believed. The smallest sufficient UTXO is spent.
  expect(await utxosOf([liar.url])).toEqual([`${utxo.txid}:${utxo.vout}`]);
});

test('a server that is unreachable or has no history stops no payment while another server shows the UTXO', async () => {
  const real = node.chain.fund(wallet.address, 2n * BTC);
  liar.lie = (path) => (path.startsWith('/tx/') ? null : undefined);
  expect(await utxosOf([node.url, liar.url, node.url])).toEqual([`${real}:0`]);
  expect(await utxosOf([node.url, liar.url])).toBe('busy');
  expect(await utxosOf([node.url, 'http://127.0.0.1:9'])).toEqual([`${real}:0`]);
});

test('a UTXO of an old list, which the wallet has spent since, is not used while another server shows its spend', async () => {
  const old = node.chain.fund(wallet.address, 2n * BTC);
  node.chain.mine(2);
  const intent = payment(wallet.address, { amount: units(BTC) });
  const client = clientAt(node.url);
  const quote = await client.quote(intent, null);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const attempt = attemptOf(client.rules.compose(intent, quote.value, 0n));
  const signed = client.rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
  if (!signed.ok) throw new Error(signed.refusal.detail);
  await client.broadcast(signed.value.raw, signed.value.hash);
  // Another server's mempool alone spends nothing.
  liar.lie = (path) => listed(path, [{ txid: old, vout: 0, value: 200_000_000 }]);
  expect(await utxosOf([liar.url, node.url])).toEqual([`${old}:0`]);
  node.chain.mine(3);
  const change = (await utxosOf([node.url], BTC / 2n))[0];
  expect(change).toMatch(new RegExp(`^${signed.value.hash}:`));
  // The list with the old UTXO alone, which would be the smallest sufficient one.
  const status = { confirmed: true, block_height: 1, block_hash: node.chain.blockHash(1) };
  const isOwn = (path: string) => path.endsWith('/utxo');
  liar.lie = (path) => (isOwn(path) ? JSON.stringify([{ txid: old, vout: 0, value: 200_000_000, status }]) : undefined);
  expect(await utxosOf([liar.url])).toEqual([`${old}:0`]);
  expect(await utxosOf([liar.url, node.url], BTC / 2n)).toEqual([change]);
  expect(await utxosOf([liar.url, node.url, node.url], BTC / 2n)).toEqual([change]);
});

test('a coinbase output is not used until it can be spent', async () => {
  const paid = node.chain.fund(wallet.address, 2n * BTC);
  const earned = node.chain.earn(wallet.address, (3n * BTC) / 2n);
  expect(await utxosOf([node.url])).toEqual([`${paid}:0`]);
  expect(await utxosOf([node.url], 3n * BTC)).toBe('busy');
  node.chain.mine(98);
  expect(await utxosOf([node.url], 3n * BTC)).toBe('busy');
  node.chain.mine();
  expect(await utxosOf([node.url], 3n * BTC)).toEqual([`${paid}:0`, `${earned}:0`]);
});

test('the oldest UTXO is spent first, because every attempt has it', async () => {
  const old = node.chain.fund(wallet.address, BTC);
  const young = node.chain.fund(wallet.address, 3n * BTC);
  expect(await utxosOf([node.url], (7n * BTC) / 2n)).toEqual([`${old}:0`, `${young}:0`]);
});

test('a cancellation omits a UTXO that no server shows any more, but never the first one', async () => {
  const [old, young] = [node.chain.fund(wallet.address, BTC), node.chain.fund(wallet.address, 3n * BTC)];
  const intent = payment(wallet.address, { amount: units((7n * BTC) / 2n) });
  const client = clientAt(liar.url);
  const first = await client.quote(intent, null);
  if (!first.ok) throw new Error('no quote');
  const attempt = attemptOf(client.rules.compose(intent, first.value, 0n));
  expect(attempt.coinParents?.map(({ txid }) => txid)).toEqual(expect.arrayContaining([old, young]));
  const undone = async (purpose: 'intent' | 'cancellation') => {
    const quote = await client.quote(actionOfAttempt(intent, purpose), attempt);
    if (!quote.ok) return quote.refusal.kind;
    const { payload } = client.rules.compose(actionOfAttempt(intent, purpose), quote.value, 0n);
    return utxosIn(bytesOf(payload)).map(({ txid }) => txid);
  };
  const hide = (txid: string) => (liar.lie = (path) => (path.includes(txid) ? null : undefined));
  hide(young);
  expect(await undone('cancellation')).toEqual([old]);
  expect(await undone('intent')).toEqual([old, young]);
  hide(old);
  expect(await undone('cancellation')).toEqual([old, young]);
});
