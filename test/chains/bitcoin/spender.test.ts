import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { clientAt, attemptOf, BTC, payment, Wallet } from './cast.ts';

/**
 * Covers the transaction that spent a UTXO: servers know that the UTXO is spent, but not by which
 * transaction.
 */

let node: BitcoinNode;
let forgetful: { readonly url: string; readonly stop: () => void };
/** The transactions that one of the servers has lost. */
const lost = new Set<string>();

async function passOn(path: string, response: ServerResponse): Promise<void> {
  const answer = await fetch(`${node.url}${path}`);
  response.writeHead(answer.status).end(await answer.text());
}

beforeAll(async () => {
  node = await startBitcoinNode();
  const server = createServer((request, response) => {
    const { url: path = '/' } = request;
    if ([...lost].some((hash) => path === `/tx/${hash}`)) return void response.writeHead(404).end('Not found');
    void passOn(path, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  const stop = () => void (server.closeAllConnections(), server.close());
  forgetful = { url: `http://127.0.0.1:${bound.port}`, stop };
});
afterAll(async () => {
  forgetful.stop();
  await node.stop();
});

const TAKEN = {
  ok: true,
  value: { type: 'absent', inMempool: false, nonceTaken: true, takenBy: [expect.any(String)] },
};
const UNEXPLAINED = { ok: true, value: { type: 'absent', inMempool: false, nonceTaken: false, isUnexplained: true } };

/** Creates a wallet with one UTXO, and its payments, all of which spend it. */
function newWallet() {
  const wallet = new Wallet();
  node.chain.fund(wallet.address, 3n * BTC);
  const client = clientAt(node.url);
  return async () => {
    const intent = payment(wallet.address);
    const quote = await client.quote(intent, null);
    if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
    const attempt = attemptOf(client.rules.compose(intent, quote.value, 0n));
    const assembled = client.rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
    if (!assembled.ok) throw new Error(assembled.refusal.detail);
    return { wallet, attempt, ...assembled.value };
  };
}

interface Payment {
  readonly wallet: Wallet;
  readonly attempt: Attempt;
  readonly hash: string;
}

const watched = ({ wallet, attempt, hash }: Payment) => ({
  from: wallet.address,
  nonce: 0n,
  hashes: [hash],
  newest: attempt,
  inclusion: null,
});

test('a payment that a server has lost is not reported as excluded by a foreign transaction', async () => {
  const one = await newWallet()();
  expect(await clientAt(node.url).broadcast(one.raw, one.hash)).toEqual({ outcome: 'accepted' });
  node.chain.mine(9);
  lost.add(one.hash);
  expect(await clientAt(forgetful.url).observe(watched(one))).toEqual(UNEXPLAINED);
  const both = await clientAt(forgetful.url, node.url).observe(watched(one));
  expect(both).toMatchObject({ value: { type: 'included', inclusion: { hash: one.hash, secondNode: 'away' } } });
  lost.clear();
  expect(await clientAt(forgetful.url).observe(watched(one))).toMatchObject({ value: { type: 'included' } });
});

test('a UTXO that a foreign transaction spent ends a payment when every server shows that transaction', async () => {
  const pay = newWallet();
  const [unsent, other] = [await pay(), await pay()];
  expect(await clientAt(node.url).broadcast(other.raw, other.hash)).toEqual({ outcome: 'accepted' });
  node.chain.mine(9);
  expect(await clientAt(node.url, forgetful.url).observe(watched(unsent))).toEqual({
    ok: true,
    value: { ...TAKEN.value, takenBy: [other.hash] },
  });
  lost.add(other.hash);
  expect(await clientAt(forgetful.url).observe(watched(unsent))).toEqual(UNEXPLAINED);
  expect(await clientAt(node.url, forgetful.url).observe(watched(unsent))).toEqual(UNEXPLAINED);
});
