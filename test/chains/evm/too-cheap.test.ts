import type { Address, Hex } from 'viem';
import { getAddress, serializeTransaction } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { FalseNode } from '../false-node.ts';
import { startFalseNode } from '../false-node.ts';
import type { LocalChain } from './local-chain.ts';
import { anvilChain, request, startLocalChain } from './local-chain.ts';

/** Covers an attempt in a mempool, while the base fee of new blocks is above its offer. */

let chain: LocalChain;
let liar: FalseNode;
let hash: Hex;
let from: Address;
let kept: unknown;

const GWEI = 10n ** 9n;
const OFFERED = 10n * GWEI;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  from = getAddress(chain.account(1));
  await chain.client.setAutomine(false);
  hash = await chain.client.sendTransaction({ account: from, to: chain.account(8), value: 5n, maxFeePerGas: OFFERED });
  kept = await request(chain.url, 'eth_getTransactionByHash', [hash]);
});
beforeEach(() => gethSays());
afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

function watched(maxFeePerGas: bigint): WatchedAttempts {
  const bytes = { chainId: 31_337, type: 'eip1559', nonce: 0, gas: 21_000n, to: chain.account(8) } as const;
  const payload = serializeTransaction({ ...bytes, maxFeePerGas, maxPriorityFeePerGas: 1n });
  return { from, nonce: 0n, hashes: [hash], newest: { payload, validUntil: null }, inclusion: null };
}

/**
 * anvil drops a transaction whose price is too low for a block, and geth keeps it. This rule makes
 * anvil look like geth.
 */
function gethSays(unknownBlock: bigint | null = null): void {
  liar.follow((method, params) => {
    if (method === 'eth_getTransactionByHash') return { result: kept };
    const isUnknown = method === 'eth_getBlockByNumber' && params[0] === `0x${(unknownBlock ?? -1n).toString(16)}`;
    return isUnknown ? { error: { code: -32_000, message: 'header not found' } } : 'forward';
  });
}

const observe = (watching: WatchedAttempts) => clientFor(anvilChain(), [liar.url]).observe(watching);

/** Mines empty blocks, whose base fee starts at 100 gwei. */
async function dearBlocks(blocks: number): Promise<void> {
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 100n * GWEI });
  await chain.client.mine({ blocks });
}

const waiting = { ok: true, value: { type: 'absent', inMempool: true, nonceTaken: false } };
const tooCheap = { ok: true, value: { ...waiting.value, isTooCheap: true } };

test('an attempt is too cheap after five blocks in a row with a higher base fee, and not after four', async () => {
  expect(await observe(watched(OFFERED))).toEqual(waiting);
  await dearBlocks(4);
  expect(await observe(watched(OFFERED))).toEqual(waiting);
  await chain.client.mine({ blocks: 1 });
  expect(await observe(watched(OFFERED))).toEqual(tooCheap);
  // A replacement with a higher offer is not too cheap because of the former offer.
  expect(await observe(watched(1000n * GWEI))).toEqual(waiting);
});

test('a cheap block among the last five, or an unknown base fee, prevents the report that an attempt is too cheap', async () => {
  await dearBlocks(5);
  const silent = (await chain.client.getBlockNumber()) - 2n;
  expect(await observe(watched(OFFERED))).toEqual(tooCheap);
  gethSays(silent);
  expect(await observe(watched(OFFERED))).toEqual(waiting);
  // Blocks before a cheap block do not count.
  await chain.client.setNextBlockBaseFeePerGas({ baseFeePerGas: GWEI });
  await chain.client.mine({ blocks: 1 });
  await dearBlocks(4);
  gethSays();
  expect(await observe(watched(OFFERED))).toEqual(waiting);
});

test('an attempt whose bytes cannot be decoded is not reported as too cheap', async () => {
  await dearBlocks(5);
  const unread = { ...watched(OFFERED), newest: { payload: '0x', validUntil: null } };
  expect(await observe(unread)).toEqual(waiting);
});
