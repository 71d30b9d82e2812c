import type { Scan } from '#chains/chain-adapter.ts';
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

/** Without a place to begin. */
const RECENT_BLOCKS = 10_000n;
/** However long ago it is. */
const MAX_BLOCKS = 50_000n;
/** Log lines are indexed: this many blocks are one quick question. Many providers give no more at once. */
const LOG_BLOCKS = 2_000n;
/** Most nodes have no older state than 128 blocks. */
const STATE_BLOCKS = 100n;
/** Each change of a balance costs some fourteen to find among ten thousand blocks. */
const MAX_STATES = 600;

interface Range {
  /** Both ends included. */
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Looks for everything that concerns an address in the newest blocks, or in those after a block: token transfers by their logs, payments
 * by where the balance changed. What is found is only a hash; what it moved is read as for any hint.
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

/** A node that finds it too much is asked for half of it, and then the other half. */
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

/** What an account shows at the end of a block. It pays for whatever it does, so two states that are alike have nothing between them. */
interface State {
  readonly at: bigint;
  readonly balance: bigint;
  readonly nonce: bigint;
}

interface Changes {
  readonly blocks: readonly bigint[];
  /** The oldest block that could be looked at. */
  readonly from: bigint;
}

/**
 * The blocks in which the account changed, by halving: a quiet account costs two looks, however many blocks there are. A node that has no
 * old state is asked for the newest blocks alone.
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
    // The newer half first: where there is too much to look at, the older is what is left out.
    pairs.push([older, middle.value], [middle.value, newer]);
  }
  return accepted({ blocks: blocks.toReversed(), from: oldest.value.at + 1n });
}

/** Null when the node has no state of that time (any more). */
async function stateAt(node: RpcNode, address: string, at: bigint): Promise<Result<State | null, NodeProblem>> {
  const [balance, nonce] = await Promise.all([
    node.request(getBalanceAt(address, at)),
    node.request(getNonce(address, at)),
  ]);
  for (const answer of [balance, nonce]) if (!answer.ok && answer.refusal.kind === 'no-answer') return answer;
  return accepted(balance.ok && nonce.ok ? { at, balance: balance.value, nonce: nonce.value } : null);
}

/** What of a block paid the address, or was done by it. Where the node does not trace, what a transaction pays by itself. */
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

/** Whether anything that did not fail was paid by or to the address, or it is who called. */
function pays(call: TraceCall, address: string): boolean {
  if (call.failed) return false;
  const concerns = call.from === address || call.to === address;
  return (concerns && (call.value > 0n || call.from === address)) || call.calls.some((inner) => pays(inner, address));
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((most, value) => (value > most ? value : most));
}
