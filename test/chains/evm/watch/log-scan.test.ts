import { getAddress } from 'viem';
import { expect, test } from 'vitest';
import { scanLogs } from '#chains/evm/watch/log-scan.ts';
import type { RpcCall, RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer, readAnswer } from '#chains/rpc/json-rpc.ts';
import type { NodeFault } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { DEPOSIT, TRANSFER, TRANSFER_BATCH, WITHDRAWAL } from '#chains/evm/rules/transfer-topics.ts';
import field from './field/log-query-refusals.json' with { type: 'json' };

/** Covers providers that refuse a range of logs, and blocks with more logs than they return. */

const WALLET = getAddress('0x1a95151674fbf8808fdc6cf09e0f434cdbf23962');
const PARTY = `0x${WALLET.slice(2).toLowerCase().padStart(64, '0')}`;
const OTHER = `0x${'11'.repeat(32)}`;
const hashOf = (block: number) => `0x${block.toString(16).padStart(64, '0')}`;

type Fault = 'cut' | 'time-out' | 'too-long' | { readonly code: number; readonly message: string };
interface Range {
  readonly from: number;
  readonly to: number;
}

let nodes = 0;

/**
 * Returns an RPC node with a token transfer in each of these blocks, and the ranges that it was
 * called with.
 *
 * @param refuses how the node refuses a range; null for an answer
 */
function nodeWith(
  blocks: readonly number[],
  refuses: (range: Range) => Fault | null,
  options: { receipts?: Fault; isAlive?: boolean } = {},
) {
  const ranges: Range[] = [];
  const receiptsOf: number[] = [];
  const failed = <T>(fault: Fault, call: RpcCall<T>): Result<T, NodeFault> => {
    if (fault === 'cut') return noAnswer('No response.');
    if (typeof fault === 'string') return refused({ kind: 'no-answer', detail: fault, because: fault });
    const read = readAnswer({ error: fault }, [], call);
    if (read.ok) throw new Error('an error is no answer');
    return read;
  };
  const answered = <T>(call: RpcCall<T>, answer: unknown): Result<T, NodeFault> => {
    const value = call.read(answer);
    return value === undefined ? noAnswer('malformed') : accepted(value);
  };
  const node: RpcNode = {
    host: `provider-${(nodes += 1)}.test`,
    request: async (call) => {
      if (call.method === 'eth_getBlockByNumber') {
        const block = { number: '0x1', hash: hashOf(1) };
        return options.isAlive === false ? noAnswer('No response.') : answered(call, block);
      }
      if (call.method === 'eth_getBlockReceipts') {
        const number = Number.parseInt(String(call.params[0]), 16);
        receiptsOf.push(number);
        if (options.receipts !== undefined) return failed(options.receipts, call);
        const noise = { transactionHash: OTHER, logs: [{ topics: [TRANSFER, OTHER, OTHER] }, { topics: null }, 7] };
        const logs = [{ topics: [TRANSFER, OTHER, PARTY] }];
        return answered(call, [
          noise,
          null,
          ...(blocks.includes(number) ? [{ transactionHash: hashOf(number), logs }] : []),
        ]);
      }
      const [{ fromBlock, toBlock, topics }] = call.params as [
        { fromBlock: string; toBlock: string; topics: unknown[] },
      ];
      const range = { from: Number.parseInt(fromBlock, 16), to: Number.parseInt(toBlock, 16) };
      ranges.push(range);
      const fault = refuses(range);
      if (fault !== null) return failed(fault, call);
      const isOfRecipient = topics.length === 3 && topics[1] === null;
      const found = blocks.filter((block) => block >= range.from && block <= range.to);
      return answered(call, isOfRecipient ? found.map((block) => ({ transactionHash: hashOf(block) })) : []);
    },
  };
  return { node, ranges, receiptsOf };
}

const CHAIN = 'eip155:1';
const memory = new Map<string, number>();
const scanned = (node: RpcNode, to = 4_999, caip2 = CHAIN) =>
  scanLogs(node, { address: WALLET, name: `${caip2} ${node.host}`, answered: memory }, { from: 0n, to: BigInt(to) });
const sizeOf = ({ from, to }: Range) => to - from + 1;
const BLOCKS = [0, 7, 1_234, 4_998, 4_999];

test.each(field.refusals)('$message ($code): the range is halved, and everything is found', async (refusal) => {
  const { code, message, rangeAbove } = refusal;
  const { node, ranges } = nodeWith(BLOCKS, (range) => (sizeOf(range) > rangeAbove ? { code, message } : null));
  expect(await scanned(node)).toEqual({ ok: true, value: { hashes: BLOCKS.map(hashOf), unread: 0 } });
  // The next scan begins with the range above the one that worked, and not with the largest.
  ranges.length = 0;
  await scanned(node);
  expect(ranges.filter((range) => sizeOf(range) > rangeAbove).length).toBeLessThanOrEqual(3);
});

test('a provider with ten blocks a call costs few calls more than its blocks need', async () => {
  const message = 'You can make eth_getLogs requests with up to a 10 block range.';
  const { node, ranges } = nodeWith([], (range) => (sizeOf(range) > 10 ? { code: -32600, message } : null));
  await scanned(node);
  const needed = 3 * Math.ceil(5_000 / 7);
  expect(ranges.length).toBeLessThan(needed + 40);
  ranges.length = 0;
  await scanned(node);
  // It may allow more by now.
  expect(ranges.length).toBe(needed + 3);
});

test('logs of strangers and a slow hour make the scans of later slow for a few scans only', async () => {
  let isFull = true;
  const { node, ranges } = nodeWith(BLOCKS, (range) => (isFull && sizeOf(range) > 1 ? 'too-long' : null));
  await scanned(node, 99);
  isFull = false;
  for (let scans = 0; scans < 10; scans++) await scanned(node);
  ranges.length = 0;
  expect(await scanned(node)).toMatchObject({ ok: true, value: { hashes: BLOCKS.map(hashOf) } });
  expect(ranges.length).toBe(9);
});

test('what one chain of a provider refuses does not slow the scans of its other chains', async () => {
  const limited = nodeWith(BLOCKS, (range) => (sizeOf(range) > 10 ? 'too-long' : null));
  await scanned(limited.node);
  const { node, ranges } = nodeWith(BLOCKS, () => null);
  await scanned({ ...node, host: limited.node.host }, 4_999, 'eip155:8453');
  expect(ranges.length).toBe(9);
});

test('a provider that shows no logs at all ends the try after a few blocks', async () => {
  const missing = { code: -32601, message: 'the method does not exist' };
  const { node, ranges } = nodeWith(BLOCKS, () => missing, { receipts: missing });
  expect(await scanned(node)).toMatchObject({ ok: false });
  expect(ranges.length).toBeLessThan(200);
});

test('a rate limit is no refusal of a range: the scan waits', async () => {
  const { error } = field.rateLimit.body;
  for (const message of [error.message, 'rate limit exceeded', 'Monthly capacity limit exceeded. ']) {
    const { node, ranges } = nodeWith(BLOCKS, () => ({ code: -32005, message }));
    expect(await scanned(node)).toMatchObject({ ok: false, refusal: { kind: 'no-answer' } });
    expect(ranges.length).toBe(1);
  }
});

test('a block with more logs than the provider returns is read by its receipts, and slows nothing else', async () => {
  for (const fault of [
    'too-long',
    'time-out',
    { code: -32005, message: 'query returned more than 10000 results' },
  ] as const) {
    const { node, ranges, receiptsOf } = nodeWith(BLOCKS, ({ from, to }) =>
      from <= 1_234 && to >= 1_234 ? fault : null,
    );
    const found = await scanned(node);
    expect(found).toEqual({ ok: true, value: { hashes: expect.arrayContaining(BLOCKS.map(hashOf)), unread: 0 } });
    expect(receiptsOf).toEqual([1_234]);
    expect(ranges.length).toBeLessThan(90);
  }
});

test('a block that the node shows in no way is counted, and the scan goes on', async () => {
  for (const receipts of ['too-long', { code: -32601, message: 'the method does not exist' }] as const) {
    const { node } = nodeWith(BLOCKS, ({ from, to }) => (from <= 7 && to >= 7 ? 'too-long' : null), { receipts });
    const found = await scanned(node);
    expect(found).toEqual({ ok: true, value: { hashes: [0, 1_234, 4_998, 4_999].map(hashOf), unread: 1 } });
  }
});

test('an unreachable node ends the try, also one that answers nothing in time', async () => {
  expect(await scanned(nodeWith(BLOCKS, () => 'cut').node)).toMatchObject({ ok: false });
  const hanging = nodeWith(BLOCKS, () => 'time-out', { isAlive: false });
  expect(await scanned(hanging.node)).toMatchObject({ ok: false });
  expect(hanging.ranges.length).toBe(1);
  const receipts = nodeWith(BLOCKS, () => 'too-long', { receipts: 'cut' });
  expect(await scanned(receipts.node)).toMatchObject({ ok: false });
});

test('the sender of a batch of collectibles is found in the receipts of a block as in its logs', async () => {
  const isFound = async (topics: readonly string[]) => {
    const { node } = nodeWith([], () => 'too-long');
    const own: RpcNode = {
      host: node.host,
      request: (call) =>
        call.method === 'eth_getBlockReceipts'
          ? Promise.resolve(accepted(call.read([{ transactionHash: hashOf(1), logs: [{ topics }] }]) ?? fail()))
          : node.request(call),
    };
    const found = await scanned(own, 0);
    return found.ok && found.value.hashes.length === 1;
  };
  expect(await isFound([TRANSFER, PARTY, OTHER])).toBe(true);
  for (const topic of [DEPOSIT, WITHDRAWAL]) expect(await isFound([topic, PARTY])).toBe(true);
  expect(await isFound([DEPOSIT, OTHER])).toBe(false);
  expect(await isFound([TRANSFER_BATCH, OTHER, PARTY, OTHER])).toBe(true);
  expect(await isFound([TRANSFER_BATCH, OTHER, OTHER, PARTY])).toBe(true);
  expect(await isFound([TRANSFER_BATCH, PARTY, OTHER, OTHER])).toBe(false);
  expect(await isFound([OTHER, PARTY, PARTY, PARTY])).toBe(false);
});

function fail(): never {
  throw new Error('the answer must be readable');
}
