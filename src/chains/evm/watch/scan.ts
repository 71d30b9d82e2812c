import type { Scan } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { TraceCall } from '#chains/evm/client/rpc-calls.ts';
import {
  getBalanceAt,
  getBlock,
  getBlockPayments,
  traceBlock,
  getLogTransactionHashes,
  getNonce,
} from '#chains/evm/client/rpc-calls.ts';
import { TRANSFER, TRANSFER_BATCH, TRANSFER_SINGLE } from '#chains/evm/rules/transfer-topics.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The range without a start block. */
const RECENT_BLOCKS = 10_000n;
/** The maximum range, however old the start block is. */
const MAX_BLOCKS = 50_000n;
/** Logs are indexed: this many blocks are one fast call. Many providers allow no more at once. */
const LOG_BLOCKS = 2_000n;
/** Most RPC nodes have no state older than 128 blocks. */
const STATE_BLOCKS = 100n;
/** Each change of a balance costs about fourteen reads to find among ten thousand blocks. */
const MAX_STATES = 600;

interface Range {
  /** Both ends included. */
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Scans for everything that concerns an address in the newest blocks, or in those after a block:
 * token transfers by their logs, payments by balance changes. It returns only hashes; their
 * movements are read as for any hint.
 */
export async function scanChain(
  node: RpcNode,
  { address, since }: { readonly address: string; readonly since: bigint | null },
): Promise<Result<Scan, NodeProblem>> {
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return refused({ kind: 'unusable', detail: 'The RPC node has no newest block.' });
  const to = head.value.number;
  const from = largest(0n, since === null ? to - RECENT_BLOCKS + 1n : since + 1n, to - MAX_BLOCKS + 1n);
  const hashes = new Set<string>();
  for (let start = from; start <= to; start += LOG_BLOCKS) {
    const end = start + LOG_BLOCKS - 1n;
    const found = await logHashes(node, address, { from: start, to: end < to ? end : to });
    if (!found.ok) return found;
    for (const hash of found.value) hashes.add(hash);
  }
  const changed = await changedBlocks(node, address, { from, to });
  if (!changed.ok) return changed;
  let untraced = 0;
  for (const number of changed.value.blocks) {
    const paid = await paymentHashes(node, address.toLowerCase(), number);
    if (!paid.ok) return paid;
    for (const hash of paid.value.hashes) hashes.add(hash);
    if (!paid.value.isTraced) untraced += 1;
  }
  const text = (range: Range) => ({ fromBlock: range.from.toString(), toBlock: range.to.toString() });
  const payments = text({ from: changed.value.from, to });
  return accepted({ hashes: [...hashes], tokens: text({ from, to }), payments, untraced });
}

/**
 * Returns the hashes of token transfers. When an RPC node refuses a range as too large, it reads
 * each half.
 */
async function logHashes(
  node: RpcNode,
  address: string,
  range: Range,
): Promise<Result<readonly string[], NodeProblem>> {
  const word = `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const shapes = [
    [TRANSFER, word],
    [TRANSFER, null, word],
    [[TRANSFER_SINGLE, TRANSFER_BATCH], null, word],
    [[TRANSFER_SINGLE, TRANSFER_BATCH], null, null, word],
  ];
  const hashes: string[] = [];
  for (const topics of shapes) {
    const found = await node.request(getLogTransactionHashes(range, topics));
    if (found.ok) {
      hashes.push(...found.value);
      continue;
    }
    if (found.refusal.kind === 'no-answer' || range.from === range.to) return found;
    const middle = (range.from + range.to) / 2n;
    const [older, newer] = [
      await logHashes(node, address, { from: range.from, to: middle }),
      await logHashes(node, address, { from: middle + 1n, to: range.to }),
    ];
    if (!older.ok) return older;
    return newer.ok ? accepted([...older.value, ...newer.value]) : newer;
  }
  return accepted(hashes);
}

/**
 * The state of an account at the end of a block. An account pays for every action, so two equal
 * states have no action between them.
 */
interface State {
  readonly at: bigint;
  readonly balance: bigint;
  readonly nonce: bigint;
}

interface Changes {
  readonly blocks: readonly bigint[];
  /** The oldest block that was readable. */
  readonly from: bigint;
}

/**
 * Returns the blocks in which the account changed, by bisection: a quiet account costs two reads,
 * however many blocks there are. On an RPC node without old state it covers only the newest blocks.
 */
async function changedBlocks(
  node: RpcNode,
  address: string,
  { from, to }: Range,
): Promise<Result<Changes, NodeProblem>> {
  const newest = await stateAt(node, address, to);
  if (!newest.ok) return newest;
  if (newest.value === null)
    return refused({ kind: 'unusable', detail: 'The RPC node has no state of its newest block.' });
  let oldest = await stateAt(node, address, largest(0n, from - 1n));
  if (oldest.ok && oldest.value === null) oldest = await stateAt(node, address, largest(0n, to - STATE_BLOCKS));
  if (!oldest.ok) return oldest;
  if (oldest.value === null) return accepted({ blocks: [], from: to + 1n });
  const blocks: bigint[] = [];
  const pairs: [State, State][] = [[oldest.value, newest.value]];
  for (let states = 0; states < MAX_STATES; states++) {
    const [older, newer] = pairs.pop() ?? [];
    if (older === undefined || newer === undefined) break;
    if (older.balance === newer.balance && older.nonce === newer.nonce) continue;
    if (newer.at - older.at <= 1n) {
      blocks.push(newer.at);
      continue;
    }
    const middle = await stateAt(node, address, (older.at + newer.at) / 2n);
    if (!middle.ok) return middle;
    if (middle.value === null)
      return refused({ kind: 'unusable', detail: 'The RPC node lacks a state between two available states.' });
    // The newer half comes first: when there are too many changes, the older ones are left out.
    pairs.push([older, middle.value], [middle.value, newer]);
  }
  return accepted({ blocks: blocks.toReversed(), from: oldest.value.at + 1n });
}

/** Returns null when the RPC node does not (or no longer) have the state of that block. */
async function stateAt(node: RpcNode, address: string, at: bigint): Promise<Result<State | null, NodeProblem>> {
  const [balance, nonce] = await Promise.all([
    node.request(getBalanceAt(address, at)),
    node.request(getNonce(address, at)),
  ]);
  for (const answer of [balance, nonce]) if (!answer.ok && answer.refusal.kind === 'no-answer') return answer;
  return accepted(balance.ok && nonce.ok ? { at, balance: balance.value, nonce: nonce.value } : null);
}

/**
 * Returns the transactions of a block that paid the address, or that it sent. When the RPC node
 * does not trace, only a transaction's own payment counts.
 */
async function paymentHashes(node: RpcNode, address: string, number: bigint) {
  const traced = await node.request(traceBlock(number));
  if (traced.ok) {
    const hashes = traced.value.filter(({ root }) => pays(root, address)).map(({ hash }) => hash);
    return accepted({ hashes, isTraced: true });
  }
  if (traced.refusal.kind === 'no-answer') return traced;
  const block = await node.request(getBlockPayments(number));
  if (!block.ok) return block;
  const direct = (block.value ?? []).filter(
    ({ from, to, value }) => from === address || (to === address && value > 0n),
  );
  return accepted({ hashes: direct.map(({ hash }) => hash), isTraced: false });
}

/** Reports whether a call that did not fail paid from or to the address, or was made by it. */
function pays(call: TraceCall, address: string): boolean {
  if (call.failed) return false;
  const concerns = call.from === address || call.to === address;
  return (concerns && (call.value > 0n || call.from === address)) || call.calls.some((inner) => pays(inner, address));
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((most, value) => (value > most ? value : most));
}
