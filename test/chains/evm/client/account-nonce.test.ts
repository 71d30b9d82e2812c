import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/**
 * Covers the proof of an account's transaction counts, when RPC nodes lie, lag or are unreachable.
 */

let chain: LocalChain;
let liar: FalseNode;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
});
afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

const provenAs = (latest: bigint | null, pending: bigint | null) => ({ latest, pending, block: expect.any(BigInt) });
const DEAD = 'http://127.0.0.1:1/';
const counted = (...urls: readonly string[]) => clientFor(anvilChain(), urls).accountNonce(chain.account(5), true);
const counts = (latest: bigint, pending: bigint) => ({ latest, pending });

/**
 * Has the lying RPC node falsify the transaction count of this block tag, and forward all other
 * calls.
 */
const falsify = (tag: string, rule: Rule) =>
  liar.follow((method, params) => (method === 'eth_getTransactionCount' && params[1] === tag ? rule : 'forward'));

test('a transaction count that two RPC nodes report alike is proven, independently of the other count', async () => {
  const from = chain.account(5);
  await chain.client.sendTransaction({ account: from, to: chain.account(4), value: 1n });
  await chain.client.mine({ blocks: 1 });
  liar.follow(() => 'forward');
  expect(await counted(liar.url, chain.url)).toEqual({
    ok: true,
    value: { ...counts(1n, 1n), proven: provenAs(1n, 1n) },
  });
  falsify('pending', { result: '0x3e8' });
  expect(await counted(liar.url, chain.url)).toEqual({
    ok: true,
    value: { ...counts(1n, 1_000n), proven: provenAs(1n, null) },
  });
  falsify('latest', { result: '0x3e8' });
  expect(await counted(liar.url, chain.url)).toEqual({
    ok: true,
    value: { ...counts(1_000n, 1n), proven: provenAs(null, 1n) },
  });
  // One lying RPC node of three does not change the result.
  expect(await counted(liar.url, chain.url, chain.url)).toEqual({
    ok: true,
    value: { ...counts(1n, 1n), proven: provenAs(1n, 1n) },
  });
});

test('no count is proven while the second RPC node is unreachable', async () => {
  liar.follow(() => 'forward');
  expect(await counted(liar.url, DEAD)).toEqual({
    ok: true,
    value: { ...counts(1n, 1n), proven: provenAs(null, null) },
  });
  expect((await counted(DEAD, DEAD)).ok).toBe(false);
  expect((await counted()).ok).toBe(false);
});

test('a single RPC node proves its count in a final block, and not the count of its mempool', async () => {
  falsify('latest', { result: '0x3e8' });
  expect(await counted(liar.url)).toEqual({
    ok: true,
    value: { ...counts(1_000n, 1n), proven: provenAs(0n, null) },
  });
  await chain.client.mine({ blocks: 80 });
  falsify('pending', { result: '0x3e8' });
  expect(await counted(liar.url)).toEqual({
    ok: true,
    value: { ...counts(1n, 1_000n), proven: provenAs(1n, null) },
  });
});

test('the depth determines the final block if the RPC node does not report one', async () => {
  const none: Rule = { error: { code: -32_602, message: 'unknown tag' } };
  liar.follow((method, params) => (method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? none : 'forward'));
  expect(await counted(liar.url)).toEqual({
    ok: true,
    value: { ...counts(1n, 1n), proven: provenAs(1n, null) },
  });
  liar.follow((method, params) => (method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? 'cut' : 'forward'));
  expect((await counted(liar.url)).ok).toBe(false);
});
