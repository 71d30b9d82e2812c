import type { Hex } from 'viem';
import { getAddress } from 'viem/utils';
import type { Trouble } from '#chains/evm/fleet.ts';
import type { EvmNode } from '#chains/evm/node.ts';
import { recordedBlockStands } from '#chains/evm/observe.ts';
import type { Block, Log } from '#chains/evm/question.ts';
import { askBlock, askReceipt, askTrace, askTransaction } from '#chains/evm/question.ts';
import type { TraceCall } from '#chains/evm/question.ts';
import { TRANSFER, TRANSFER_BATCH, TRANSFER_SINGLE } from '#chains/evm/transfer-topics.ts';
import type { ActivityBlock, ActivityMovement, ChainTransaction } from '#domain/activity.ts';
import { amountOf } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** A node without the `finalized` tag: this many times the chain's confirmations count as final. Ours. */
const FINAL_AFTER_TIMES = 4n;

/**
 * A transaction with everything that it moved, as one node has it; null when the node has none, or it failed: then it moved nothing.
 * Of a node that refuses to trace there are the top call and the logs, and no payments of contracts.
 */
export async function readActivity(
  node: EvmNode,
  chain: Chain,
  { hash, found }: { readonly hash: string; readonly found: ActivityBlock | null },
): Promise<Result<ChainTransaction | null, Trouble>> {
  const head = await node.ask(askBlock('latest'));
  if (!head.ok) return head;
  const [receipt, known] = await Promise.all([node.ask(askReceipt(hash)), node.ask(askTransaction(hash))]);
  if (!receipt.ok) return receipt;
  if (!known.ok) return known;
  if (head.value === null) return unfit('the node has no head');
  if (receipt.value === null) return absence(node, found);
  if (known.value === null) return unfit('the node has a receipt without its transaction');
  if (!receipt.value.succeeded) return accepted(null);
  const { blockNumber, blockHash, logs, gasUsed, effectiveGasPrice, l1Fee } = receipt.value;
  const [block, finalized, trace] = await Promise.all([
    node.ask(askBlock(blockNumber)),
    node.ask(askBlock('finalized')),
    node.ask(askTrace(hash)),
  ]);
  if (!block.ok) return block;
  if (block.value?.hash !== blockHash) return unfit('the receipt is from a block that the node does not have');
  if (!finalized.ok && finalized.refusal.kind === 'no-answer') return finalized;
  if (!trace.ok && trace.refusal.kind === 'no-answer') return trace;
  const { from, to, value } = known.value;
  const top: ActivityMovement[] = value === 0n ? [] : [native('top', 'native', { from, to, value })];
  const inner = trace.ok ? innerPayments(trace.value) : [];
  return accepted({
    hash,
    signer: getAddress(from),
    fee: amountOf(gasUsed * effectiveGasPrice + l1Fee),
    block: {
      number: blockNumber.toString(),
      hash: blockHash,
      ...depthOf({ chain, head: head.value, finalized: finalized.ok ? finalized.value : null }, blockNumber),
    },
    movements: [...top, ...inner, ...logs.flatMap(logMovements)],
  });
}

async function absence(node: EvmNode, found: ActivityBlock | null): Promise<Result<null, Trouble>> {
  const stands = await recordedBlockStands(
    node,
    found === null ? null : { blockNumber: found.number, blockHash: found.hash },
  );
  if (!stands.ok) return stands;
  return stands.value ? unfit('the node has the recorded block, but not the receipt') : accepted(null);
}

interface View {
  readonly chain: Chain;
  readonly head: Block;
  readonly finalized: Block | null;
}

function depthOf({ chain, head, finalized }: View, blockNumber: bigint) {
  // A node behind a balancer may answer with an older head than the receipt's block.
  const depth = head.number < blockNumber ? 1n : head.number - blockNumber + 1n;
  const isFinal =
    finalized === null ? depth >= FINAL_AFTER_TIMES * BigInt(chain.confirmations) : finalized.number >= blockNumber;
  return { confirmations: Number(depth), isFinal };
}

/** Payments of contracts, by their place in the tree of calls. What a reverted call paid came back; so did what it called. */
function innerPayments(root: TraceCall): readonly ActivityMovement[] {
  const walk = (call: TraceCall, path: readonly number[]): ActivityMovement[] => {
    if (call.failed) return [];
    const pays = path.length > 0 && call.value > 0n && call.isPayment;
    const own = pays ? [native(`trace:${path.join('_')}`, 'internal', call)] : [];
    return [...own, ...call.calls.flatMap((inner, i) => walk(inner, [...path, i]))];
  };
  return walk(root, []);
}

interface Payment {
  readonly from: Hex;
  /** Null for the creation of a contract. */
  readonly to: Hex | null;
  readonly value: bigint;
}

function native(uid: string, kind: 'native' | 'internal', { from, to, value }: Payment): ActivityMovement {
  const parties = { from: getAddress(from), to: to === null ? null : getAddress(to) };
  return { uid, kind, ...parties, tokenAddress: null, tokenId: null, amount: amountOf(value) };
}

/** The tokens of one log line; none for anything that is not exactly a transfer of the three standards. */
function logMovements(log: Log): readonly ActivityMovement[] {
  const [topic, ...indexed] = log.topics;
  const words = wordsOf(log.data);
  const uid = `log:${log.index}`;
  const tokenAddress = getAddress(log.address);
  if (topic === TRANSFER && words !== null) {
    const [from, to, id] = indexed;
    if (from === undefined || to === undefined) return [];
    const parties = { from: party(from), to: party(to), tokenAddress };
    if (id !== undefined && words.length === 0) {
      return [{ uid, kind: 'erc721', ...parties, tokenId: BigInt(id).toString(), amount: amountOf(1n) }];
    }
    const [amount, ...rest] = words;
    if (id !== undefined || amount === undefined || rest.length > 0) return [];
    return [{ uid, kind: 'erc20', ...parties, tokenId: null, amount: amountOf(amount) }];
  }
  if ((topic !== TRANSFER_SINGLE && topic !== TRANSFER_BATCH) || words === null) return [];
  const [, from, to] = indexed;
  if (from === undefined || to === undefined) return [];
  const held = topic === TRANSFER_SINGLE ? singleOf(words) : batchOf(words);
  return held.map(({ id, amount }, i): ActivityMovement => ({
    uid: `${uid}:${i}`,
    kind: 'erc1155',
    from: party(from),
    to: party(to),
    tokenAddress,
    tokenId: id.toString(),
    amount: amountOf(amount),
  }));
}

interface Held {
  readonly id: bigint;
  readonly amount: bigint;
}

function singleOf(words: readonly bigint[]): readonly Held[] {
  const [id, amount, ...rest] = words;
  return id === undefined || amount === undefined || rest.length > 0 ? [] : [{ id, amount }];
}

/** Two dynamic arrays: offset, offset, then length and items of each. Anything that does not add up is no batch. */
function batchOf(words: readonly bigint[]): readonly Held[] {
  const ids = arrayAt(words, words[0]);
  const amounts = arrayAt(words, words[1]);
  if (ids === null || amounts === null || ids.length !== amounts.length) return [];
  return ids.map((id, i) => ({ id, amount: amounts[i] ?? 0n }));
}

function arrayAt(words: readonly bigint[], offset: bigint | undefined): readonly bigint[] | null {
  if (offset === undefined || offset % 32n !== 0n || offset / 32n >= BigInt(words.length)) return null;
  const start = Number(offset / 32n);
  const length = words[start] ?? 0n;
  if (length > BigInt(words.length - start - 1)) return null;
  return words.slice(start + 1, start + 1 + Number(length));
}

/** Null for data that is not whole words. */
function wordsOf(data: Hex): readonly bigint[] | null {
  const digits = data.slice(2);
  if (digits.length % 64 !== 0) return null;
  return Array.from({ length: digits.length / 64 }, (_, i) => BigInt(`0x${digits.slice(i * 64, (i + 1) * 64)}`));
}

/** The zero address is nobody: tokens come out of nothing, or go there. */
function party(topic: Hex): string | null {
  const address = `0x${topic.slice(-40)}` as const;
  return /^0x0{40}$/.test(address) ? null : getAddress(address);
}

function unfit(detail: string): Result<never, Trouble> {
  return refused({ kind: 'unfit', detail });
}
