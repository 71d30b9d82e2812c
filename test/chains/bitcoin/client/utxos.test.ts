import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readUtxos } from '#chains/bitcoin/client/utxos.ts';
import { getUtxos } from '#chains/bitcoin/client/rpc-calls.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import { connect } from '#chains/bitcoin/client/rpc-node.ts';
import { accepted, refused } from '#domain/result.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { clientAt, attemptOf, BTC, payment, stranger, units, Wallet } from '../cast.ts';

/** Covers wallets with more UTXOs than a server lists, or than one transaction can spend. */

let node: BitcoinNode;
let wallet: Wallet;
beforeAll(async () => {
  node = await startBitcoinNode();
});
beforeEach(() => {
  wallet = new Wallet();
});
afterAll(() => node.stop());

const dust = (count: number) => Array.from({ length: count }, () => node.chain.fund(wallet.address, 330n));

/** Signs a payment and sends it. */
async function pay(amount: bigint): Promise<readonly string[]> {
  const intent = payment(wallet.address, { amount: units(amount) });
  const quote = await clientAt(node.url).quote(intent, null);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const attempt = attemptOf(clientAt(node.url).rules.compose(intent, quote.value, 0n));
  const assembled = clientAt(node.url).rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  const { raw, hash } = assembled.value;
  expect(await clientAt(node.url).broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
  return quote.value.utxos ?? [];
}

test('a wallet that received 501 dust outputs from a stranger can still pay', async () => {
  const own = node.chain.fund(wallet.address, 2n * BTC);
  dust(501);
  expect(await connect(node.url).request(getUtxos(wallet.address))).toMatchObject({
    refusal: { kind: 'error-answer', detail: expect.stringContaining('Too many unspent') },
  });
  expect(await pay(BTC)).toEqual([`${own}:0`]);
  // The UTXO is in flight, and no second payment uses it.
  expect(await clientAt(node.url).quote(payment(wallet.address), null)).toMatchObject({ ok: false });
  node.chain.mine();
  const change = node.chain.confirmed().at(-1)?.hash;
  expect(await pay(BTC / 2n)).toEqual([`${change}:1`]);
});

test('the newest transactions give the same UTXOs as the list of a server', async () => {
  const own = node.chain.fund(wallet.address, 2n * BTC);
  await pay(BTC);
  node.chain.mine();
  dust(60);
  const listed = await readUtxos(connect(node.url), wallet.address);
  const paged = await readUtxos(withoutList(connect(node.url)), wallet.address);
  const named = (utxos: typeof listed) => (utxos.ok ? utxos.value.map(outpointText).toSorted() : []);
  expect(named(paged)).toEqual(named(listed));
  expect(named(paged)).toHaveLength(61);
  expect(named(paged)).not.toContain(`${own}:0`);
});

/** Returns a server that lists no UTXOs. */
function withoutList(behind: RpcNode): RpcNode {
  return {
    host: behind.host,
    request: async (call) =>
      call.method.endsWith('/utxo')
        ? refused({
            kind: 'error-answer',
            code: 400,
            detail: 'Too many unspent transaction outputs (>500).',
            data: null,
          })
        : behind.request(call),
  };
}

test('an endless history is not read to its end, and UTXOs that its unread pages may have spent are not used', async () => {
  const address = stranger();
  const hash = (number: number) => number.toString(16).padStart(64, '0');
  const pages: string[] = [];
  // Each page has 25 transactions, of which three are in one block.
  const transfer = (number: number): object => ({
    txid: hash(number),
    fee: 1n,
    weight: 400n,
    vin: [],
    vout: [{ value: 1_000n, scriptpubkey_address: address }],
    status: { confirmed: true, block_height: 10n, block_hash: hash(Math.floor(number / 3)) },
  });
  const endless: RpcNode = {
    host: 'node.test',
    request: async (call) => {
      const { method } = call;
      if (method.endsWith('/txs/mempool')) return accepted(call.read([]) ?? fail());
      const last = /txs\/chain\/?(.*)$/.exec(method)?.[1];
      if (last === undefined) return noAnswer(method);
      pages.push(method);
      const start = last === '' ? 1_000_000 : Number.parseInt(last, 16) - 1;
      const page = Array.from({ length: 25 }, (_, i) => transfer(start - i));
      return accepted(call.read(page) ?? fail());
    },
  };
  const utxos = await readUtxos(withoutList(endless), address);
  const found = utxos.ok ? utxos.value : [];
  expect(pages).toHaveLength(40);
  const oldest = 1_000_000 - 40 * 25 + 1;
  const isHidden = (number: number) => Math.floor(number / 3) === Math.floor(oldest / 3);
  const kept = Array.from({ length: 1_000 }, (_, i) => 1_000_000 - i).filter((number) => !isHidden(number));
  expect(found.map(({ txid }) => txid)).toEqual(kept.map(hash));
});

function fail(): never {
  throw new Error('a page that cannot be read');
}

test('a payment of more small UTXOs than fit into one transaction is refused, with the payable amount', async () => {
  for (let i = 0; i < 60; i++) node.chain.fund(wallet.address, 10_000n);
  const quote = await clientAt(node.url).quote(payment(wallet.address, { amount: units(550_000n) }), null);
  // The size of 50 inputs of 57.5 virtual bytes, one output of 43, and 10.5 for the rest.
  const pays = `which pay ${500_000n - 2_929n} satoshi`;
  expect(quote).toEqual({
    ok: false,
    refusal: {
      kind: 'permanent',
      reason: 'TOO_MANY_COINS',
      detail: `One transaction can spend at most 50 UTXOs, ${pays}. Consolidate the wallet first.`,
    },
  });
  expect((await clientAt(node.url).quote(payment(wallet.address, { amount: units(497_071n) }), null)).ok).toBe(true);
  const tooMuch = payment(wallet.address, { amount: units(650_000n) });
  expect(await clientAt(node.url).quote(tooMuch, null)).toMatchObject({ refusal: { reason: 'INSUFFICIENT_FUNDS' } });
});

test('a consolidation spends the smallest UTXOs that are worth their fee, and waits for those in flight', async () => {
  const joined = async (joins: number, taken: readonly string[] = []) => {
    const intent = payment(wallet.address, { to: wallet.address, amount: units(0n) });
    const options = { joins, speed: 'slow', taken: new Set(taken), includeMayCarryMore: true } as const;
    return clientAt(node.url).quote(intent, null, options);
  };
  const none = { ok: false, refusal: { kind: 'permanent', reason: 'NOTHING_TO_CONSOLIDATE' } };
  node.chain.fund(wallet.address, BTC);
  expect(await joined(5)).toMatchObject(none);
  node.rates['12'] = 10;
  // A P2TR input costs 580 satoshi at this rate.
  const [speck, ...small] = [580n, 3_000n, 1_000n, 2_000n].map((amount) => node.chain.fund(wallet.address, amount));
  const names = (hashes: readonly (string | undefined)[]) => hashes.map((hash) => `${hash}:0`);
  // The oldest UTXO is the first input, because every attempt spends it.
  expect(await joined(3)).toMatchObject({ ok: true, value: { utxos: names([small[0], small[1], small[2]]) } });
  expect(await joined(2)).toMatchObject({ ok: true, value: { utxos: names([small[1], small[2]]) } });
  const all = await joined(50);
  expect(all.ok && all.value.utxos).toHaveLength(4);
  expect(all.ok && all.value.utxos).not.toContain(`${speck}:0`);
  expect(await joined(2, all.ok ? all.value.utxos : [])).toEqual({ ok: false, refusal: { kind: 'busy' } });
  delete node.rates['12'];
});
