import type { Address, Hex } from 'viem';
import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, WatchedAttempts } from '#chains/chain-client.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, request, startLocalChain } from '../local-chain.ts';

/**
 * Covers the transaction that used a nonce: RPC nodes know the transaction count of an account, but
 * not which transaction raised it.
 */

let chain: LocalChain;
let liar: FalseNode;
let payer = 0;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

const NEVER_SENT: Hex = `0x${'ab'.repeat(32)}`;
const NOTHING = { ok: true, value: { type: 'absent', inMempool: false, nonceTaken: false } };
const UNEXPLAINED = { ok: true, value: { type: 'absent', inMempool: false, nonceTaken: false, isUnexplained: true } };
const TAKEN = {
  ok: true,
  value: { type: 'absent', inMempool: false, nonceTaken: true, takenBy: [expect.any(String)] },
};
const PRUNED: Rule = { error: { code: -32000, message: 'missing trie node' } };

const BY_HASH = new Set(['eth_getTransactionByHash', 'eth_getTransactionReceipt']);
const HISTORY = new Set([...BY_HASH, 'eth_getBlockReceipts']);

async function nextWallet(): Promise<Address> {
  const address = getAddress(`0x${(0xabcdef000 + payer++).toString(16).padStart(40, '0')}`);
  await chain.client.setBalance({ address, value: 10n ** 20n });
  await chain.client.impersonateAccount({ address });
  return address;
}

async function pay(from: Address): Promise<Hex> {
  const hash = await chain.client.sendTransaction({ account: from, to: chain.account(8), value: 5n });
  await chain.mined(hash);
  return hash;
}

function watched(from: string, hashes: readonly string[], nonce = 0n): WatchedAttempts {
  return { from, nonce, hashes, newest: { payload: '0x', validUntil: null }, inclusion: null };
}

/** Returns a client for the lying RPC node and, if requested, further RPC nodes. */
const client = (...urls: readonly string[]): ChainClient =>
  clientFor(anvilChain({ confirmations: 3 }), [liar.url, ...urls]);

/**
 * Makes the lying RPC node answer by a rule, without a `finalized` tag. Therefore 12 confirmations
 * are final here.
 */
function answering(rule: (method: string, params: readonly unknown[]) => Rule): void {
  liar.follow((method, params) =>
    method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? { result: null } : rule(method, params),
  );
}

const without = (methods: ReadonlySet<string>) =>
  answering((method) => (methods.has(method) ? { result: null } : 'forward'));

/** Makes the RPC node keep the state of this number of blocks below its head. */
const keeping = (states: bigint, head: bigint) =>
  answering((method, params) => {
    const tag = params[1];
    if (BY_HASH.has(method)) return { result: null };
    const isOld = typeof tag === 'string' && tag.startsWith('0x') && BigInt(tag) < head - states;
    return method === 'eth_getTransactionCount' && isOld ? PRUNED : 'forward';
  });

test('a payment that its RPC node does not find by its hash is found in the block that used its nonce', async () => {
  const from = await nextWallet();
  await pay(from);
  const hash = await pay(from);
  await chain.client.mine({ blocks: 130, interval: 30 });
  without(BY_HASH);
  const seen = await client().observe(watched(from, [NEVER_SENT, hash], 1n));
  expect(seen).toMatchObject({
    value: { type: 'included', inclusion: { hash, succeeded: true, finalized: true, movementCount: 1 } },
  });
});

test('a payment whose receipt is missing is reported neither as mined nor as replaced', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  await chain.client.mine({ blocks: 120, interval: 30 });
  without(HISTORY);
  expect(await client().observe(watched(from, [hash]))).toEqual(UNEXPLAINED);
  answering((method) => {
    if (BY_HASH.has(method)) return { result: null };
    return method === 'eth_getBlockReceipts' ? { error: { code: -32601, message: 'Method not found' } } : 'forward';
  });
  expect(await client().observe(watched(from, [hash]))).toEqual(UNEXPLAINED);
  // The lying RPC node is called before an honest one.
  without(HISTORY);
  const seen = await client(chain.url).observe(watched(from, [hash]));
  expect(seen).toMatchObject({ value: { type: 'included', inclusion: { hash, secondNode: 'away' } } });
});

test('an RPC node that keeps the state of few blocks finds only a nonce that was used within them', async () => {
  const from = await nextWallet();
  await pay(from);
  await chain.client.mine({ blocks: 100, interval: 30 });
  const head = await chain.client.getBlockNumber();
  const attempts = watched(from, [NEVER_SENT]);
  keeping(101n, head);
  expect(await client().observe(attempts)).toEqual(TAKEN);
  keeping(100n, head);
  expect(await client().observe(attempts)).toEqual(UNEXPLAINED);
  keeping(-1n, head);
  expect(await client().observe(attempts)).toEqual(UNEXPLAINED);
  // The next nonce was never used, whatever state the RPC node keeps.
  expect(await client().observe(watched(from, [NEVER_SENT], 1n))).toEqual(NOTHING);
});

test("a foreign transaction at the nonce counts when it is final and ten minutes old by the chain's clock", async () => {
  const from = await nextWallet();
  await pay(from);
  const attempts = watched(from, [NEVER_SENT]);
  without(new Set());
  await chain.client.mine({ blocks: 10, interval: 100 });
  expect(await client().observe(attempts)).toEqual(NOTHING);
  await chain.client.mine({ blocks: 2, interval: 100 });
  expect(await client().observe(attempts)).toEqual(TAKEN);

  const hurried = await nextWallet();
  await pay(hurried);
  await chain.client.mine({ blocks: 120, interval: 1 });
  const young = watched(hurried, [NEVER_SENT]);
  expect(await client().observe(young)).toEqual(NOTHING);
  await chain.client.mine({ blocks: 1, interval: 480 });
  await chain.client.mine({ blocks: 1, interval: 480 });
  expect(await client().observe(young)).toEqual(TAKEN);
});

test('a nonce counts as taken when every configured RPC node reports it', async () => {
  const from = await nextWallet();
  await pay(from);
  await chain.client.mine({ blocks: 120, interval: 30 });
  const attempts = watched(from, [NEVER_SENT]);
  without(new Set());
  expect(await client(liar.url).observe(attempts)).toEqual(TAKEN);
  expect(await client('http://127.0.0.1:9').observe(attempts)).toEqual({
    ok: true,
    value: { ...UNEXPLAINED.value, unansweredBy: ['127.0.0.1:9'] },
  });
  // anvil calls a block final that is 64 blocks deep.
  expect(await client(chain.url).observe(attempts)).toEqual(TAKEN);
});

test('a nonce that was used in the newest or in the first block is found as well', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  without(BY_HASH);
  expect(await client().observe(watched(from, [hash]))).toMatchObject({ value: { type: 'included' } });
  const fresh = await startLocalChain();
  const behind = await startFalseNode(fresh.url);
  behind.follow((method) => (BY_HASH.has(method) ? { result: null } : 'forward'));
  const first = await fresh.client.sendTransaction({ account: fresh.account(3), to: fresh.account(4), value: 1n });
  await fresh.mined(first);
  const seen = await clientFor(anvilChain(), [behind.url]).observe(watched(fresh.account(3), [first]));
  expect(seen).toMatchObject({ value: { type: 'included', inclusion: { hash: first, blockNumber: '1' } } });
  await behind.stop();
  await fresh.stop();
});

test('a block without the transaction that its count implies leaves the nonce unexplained', async () => {
  const from = await nextWallet();
  await pay(from);
  await chain.client.mine({ blocks: 120, interval: 30 });
  const attempts = watched(from, [NEVER_SENT]);
  const whole = (result: (number: unknown) => unknown) =>
    answering((method, [number, isWhole]) =>
      method === 'eth_getBlockByNumber' && isWhole === true ? { result: result(number) } : 'forward',
    );
  whole(() => null);
  expect(await client().observe(attempts)).toEqual(UNEXPLAINED);
  whole((number) => ({ number, timestamp: '0x1', transactions: [{ hash: NEVER_SENT }, 7] }));
  expect(await client().observe(attempts)).toEqual(UNEXPLAINED);
  whole(() => ({ number: '0x1', timestamp: '0x1', transactions: [] }));
  expect(await client().observe(attempts)).toMatchObject({ ok: false });
});

test('a forged receipt that names a block of the chain is compared with an RPC node that has the block', async () => {
  const from = await nextWallet();
  const other = await pay(chain.account(5));
  await chain.client.mine({ blocks: 20, interval: 12 });
  const [receipt, known] = await Promise.all([
    request(chain.url, 'eth_getTransactionReceipt', [other]),
    request(chain.url, 'eth_getTransactionByHash', [other]),
  ]);
  answering((method) => {
    if (method === 'eth_getTransactionReceipt') return { result: { ...Object(receipt), transactionHash: NEVER_SENT } };
    return method === 'eth_getTransactionByHash' ? { result: { ...Object(known), hash: NEVER_SENT } } : 'forward';
  });
  const attempts = watched(from, [NEVER_SENT]);
  expect(await client().observe(attempts)).toMatchObject({ value: { type: 'included' } });
  const both = await client(chain.url).observe(attempts);
  expect(both).toMatchObject({ value: { type: 'included', inclusion: { secondNode: 'disagrees' } } });
});
