import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import { connect } from '#chains/bitcoin/client/rpc-node.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { unitsIn } from '../../readings.ts';
import { attemptOf, BTC, clientAt, payment, units, Wallet } from '../cast.ts';

/**
 * Covers a history whose pages have megabytes, because a stranger pays the wallet with
 * inscriptions. A server decides how many transactions are on a page.
 */

interface Shown {
  readonly txid: string;
  readonly vin: readonly object[];
}

/** A script in hex, as long as a standard transaction allows, and the same as text. */
const SCRIPT = 'ab'.repeat(390_000);
const WITNESS = { witness: ['01', SCRIPT, 'c0'], inner_witnessscript_asm: `OP_PUSHDATA2 ${SCRIPT}` };
/** A thousand items, which is the limit of a witness, in each of many inputs. */
const PARTS = { witness: Array.from({ length: 1_000 }, () => '00') };

let node: BitcoinNode;
let server: Server;
let url: string;
let pageBytes = 0;
/** Transactions with long witnesses, and with many parts. */
const inscribed = new Set<string>();
const parted = new Set<string>();

function withWitnesses(shown: Shown): Shown {
  if (inscribed.has(shown.txid)) return { ...shown, vin: shown.vin.map((input) => ({ ...input, ...WITNESS })) };
  if (!parted.has(shown.txid)) return shown;
  return { ...shown, vin: shown.vin.flatMap((input) => Array.from({ length: 180 }, () => ({ ...input, ...PARTS }))) };
}

beforeAll(async () => {
  node = await startBitcoinNode();
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = 'GET', url: path = '/' } = request;
      const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {};
      const answer = await fetch(`${node.url}${path}`, { method, ...body });
      const text = await answer.text();
      const isPage = answer.ok && /\/txs\/(?:chain|mempool)/.test(path);
      const isOne = answer.ok && /\/tx\/[0-9a-f]{64}$/.test(path);
      const shown = isPage
        ? JSON.stringify((JSON.parse(text) as readonly Shown[]).map(withWitnesses))
        : isOne
          ? JSON.stringify(withWitnesses(JSON.parse(text) as Shown))
          : text;
      if (isPage) pageBytes = Math.max(pageBytes, shown.length);
      response.writeHead(answer.status).end(shown);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  url = typeof address === 'object' && address !== null ? `http://127.0.0.1:${address.port}` : '';
});
afterAll(async () => {
  server.close();
  await node.stop();
});

async function pay(wallet: Wallet, amount: bigint): Promise<readonly string[]> {
  const client = clientAt(url);
  const intent = payment(wallet.address, { amount: units(amount) });
  const quote = await client.quote(intent, null);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const attempt = attemptOf(client.rules.compose(intent, quote.value, 0n));
  const assembled = client.rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  const { raw, hash } = assembled.value;
  expect(await client.broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
  return quote.value.utxos ?? [];
}

test('a wallet with 501 dust outputs pays while its newest page has inscriptions, and then millions of parts', async () => {
  const wallet = new Wallet();
  const own = node.chain.fund(wallet.address, 5n * BTC);
  for (let i = 0; i < 501; i++) node.chain.fund(wallet.address, 330n);
  for (let i = 0; i < 3; i++) inscribed.add(node.chain.fund(wallet.address, 330n));
  expect(await pay(wallet, BTC)).toEqual([`${own}:0`]);
  expect(pageBytes).toBeGreaterThan(4_000_000);
  const scan = await clientAt(url).scan(wallet.address, null);
  expect(scan.ok && [...inscribed].every((hash) => scan.value.hashes.includes(hash))).toBe(true);
  const held = await clientAt(url).holdings(wallet.address, [NATIVE], false);
  // The five newest blocks can still be removed.
  expect(held.ok && unitsIn(held.value)).toEqual([(5n * BTC + 499n * 330n).toString()]);
  node.chain.mine();
  for (let i = 0; i < 12; i++) parted.add(node.chain.fund(wallet.address, 330n));
  pageBytes = 0;
  expect(await pay(wallet, BTC)).toHaveLength(1);
  // Twelve transactions with 180 inputs of a thousand items.
  expect(pageBytes).toBeGreaterThan(10_000_000);
});

test('a transaction of megabytes is read with all its outputs', async () => {
  const [hash] = inscribed;
  const read = await connect(url).request(getTransaction(hash ?? ''));
  expect(read).toMatchObject({ ok: true, value: { hash, outputs: expect.any(Array) } });
});
