import type { Scan, ScanMemory } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { DirectPayment } from '#chains/evm/client/block-contents.ts';
import { getBlockPayments } from '#chains/evm/client/block-contents.ts';
import type { BlockRange } from '#chains/evm/client/log-calls.ts';
import { getBalanceAt, getBlock, getNonce } from '#chains/evm/client/rpc-calls.ts';
import type { TraceCall } from '#chains/evm/client/trace-calls.ts';
import { traceBlock } from '#chains/evm/client/trace-calls.ts';
import { scanLogs } from '#chains/evm/watch/log-scan.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The range without a start block. */
const RECENT_BLOCKS = 10_000n;
/** The maximum range, however old the start block is. */
const MAX_BLOCKS = 50_000n;
/** Most RPC nodes have no state older than 128 blocks. */
const STATE_BLOCKS = 100n;
/** Each change of a balance costs about fourteen reads to find among ten thousand blocks. */
const MAX_STATES = 600;

interface ScanOptions {
  readonly address: string;
  readonly since: bigint | null;
  readonly caip2: string;
  readonly memory: ScanMemory;
}

/**
 * Scans for everything that concerns an address in the newest blocks, or in those after a block:
 * token transfers by their logs, payments by balance changes. It returns only hashes; their
 * movements are read as for any hint.
 */
export async function scanChain(
  node: RpcNode,
  { address, since, caip2, memory }: ScanOptions,
): Promise<Result<Scan, NodeProblem>> {
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return refused({ kind: 'unusable', detail: 'The RPC node has no newest block.' });
  const to = head.value.number;
  const from = largest(0n, since === null ? to - RECENT_BLOCKS + 1n : since + 1n, to - MAX_BLOCKS + 1n);
  const logged = await scanLogs(node, { address, name: `${caip2} ${node.host}`, answered: memory }, { from, to });
  if (!logged.ok) return logged;
  const hashes = new Set<string>(logged.value.hashes);
  const changed = await changedBlocks(node, address, { from, to });
  if (!changed.ok) return changed;
  let untraced = logged.value.unread;
  for (const number of changed.value.blocks) {
    const paid = await paymentHashes(node, address.toLowerCase(), number);
    if (!paid.ok) return paid;
    for (const hash of paid.value.hashes) hashes.add(hash);
    if (!paid.value.isTraced) untraced += 1;
  }
  const text = (range: BlockRange) => ({ fromBlock: range.from.toString(), toBlock: range.to.toString() });
  const payments = text({ from: changed.value.from, to });
  const requested = text({ from, to });
  const found = { hashes: [...hashes], requested, tokens: requested, payments, untraced };
  return accepted(untraced === 0 ? found : { ...found, untracedBy: node.host });
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
  /** The oldest block from which every change is in `blocks`. */
  readonly from: bigint;
}

/**
 * Returns the blocks in which the account changed, by bisection: a quiet account costs two reads,
 * however many blocks there are. On an RPC node without old state it covers only the newest blocks.
 */
async function changedBlocks(
  node: RpcNode,
  address: string,
  { from, to }: BlockRange,
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
    if (isSame(older, newer)) continue;
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
  // The newest pair that was left out ends what is covered.
  const [, left = oldest.value] = pairs.findLast(([older, newer]) => !isSame(older, newer)) ?? [];
  // Block 0 has no transactions.
  return accepted({ blocks: blocks.toReversed(), from: left.at === 0n ? 0n : left.at + 1n });
}

function isSame(one: State, other: State): boolean {
  return one.balance === other.balance && one.nonce === other.nonce;
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

interface PaidInBlock {
  readonly hashes: readonly string[];
  readonly isTraced: boolean;
}

/**
 * Returns the transactions of a block that paid the address, or that it sent. Of a transaction
 * without a readable trace only its own payment counts.
 */
async function paymentHashes(
  node: RpcNode,
  address: string,
  number: bigint,
): Promise<Result<PaidInBlock, NodeProblem>> {
  const traced = await node.request(traceBlock(number));
  const rows = traced.ok ? traced.value : [];
  const isWhole = traced.ok && rows.every(({ hash, root }) => hash !== null && root !== null);
  const hashesOf = (named: typeof rows) =>
    named.flatMap(({ hash, root }) => (hash !== null && root !== null && pays(root, address) ? [hash] : []));
  if (isWhole) return accepted({ hashes: hashesOf(rows), isTraced: true });
  const block = await node.request(getBlockPayments(number));
  if (!block.ok) return block;
  const payments = block.value ?? [];
  // Rows without hashes have the order of the block.
  const isInOrder = rows.length === payments.length;
  const named = isInOrder ? rows.map(({ hash, root }, i) => ({ hash: hash ?? payments[i]?.hash ?? null, root })) : rows;
  const isNamed = isInOrder && named.every(({ hash, root }) => hash !== null && root !== null);
  const direct = payments.flatMap((one) => (one !== null && isDirect(one, address) ? [one.hash] : []));
  return accepted({ hashes: [...new Set([...hashesOf(named), ...direct])], isTraced: isNamed });
}

function isDirect({ from, to, value }: DirectPayment, address: string): boolean {
  return from === address || (to === address && value > 0n);
}

/** Reports whether a call that did not fail paid from or to the address, or was made by it. */
function pays(call: TraceCall, address: string): boolean {
  if (call.failed) return false;
  const concerns = call.from === address || call.to === address;
  const own = concerns && (call.value > 0n || call.from === address);
  return own || call.calls.some((inner) => inner !== null && pays(inner, address));
}

function largest(...values: readonly bigint[]): bigint {
  return values.reduce((most, value) => (value > most ? value : most));
}
