import { checkOwnAbsence, denial } from '#chains/rpc/absence-check.ts';
import { isByContract, isUnlogged } from '#chains/contents.ts';
import { movedIn } from '#chains/rpc/inclusion-contents.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unshown, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { BLOCK_CALLS } from '#chains/evm/client/block-calls.ts';
import { depthOf } from '#chains/evm/client/depth.ts';
import { executionFailure, feeOf } from '#chains/evm/watch/execution.ts';
import { withCollectibles } from '#chains/evm/watch/collectibles.ts';
import { movementsIn } from '#chains/evm/watch/movements.ts';
import type { TransferEvidence } from '#chains/evm/watch/token-transfer.ts';
import { DESCRIBED, transferEvidence } from '#chains/evm/watch/token-transfer.ts';
import { findNonceConsumer } from '#chains/evm/watch/nonce-consumer.ts';
import type { BlockTransaction, WholeBlock } from '#chains/evm/client/block-contents.ts';
import { getReceiptInBlock } from '#chains/evm/client/block-contents.ts';
import type { Block, KnownTransaction, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { traceTransaction } from '#chains/evm/client/trace-calls.ts';
import { getBlock, getNonce, getReceipt, getBlockTimestamp, getTransaction } from '#chains/evm/client/rpc-calls.ts';
import { parseUnsigned } from '#chains/evm/rules/transaction.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ChainMovement, WalletMovements } from '#domain/asset/movement.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';

/**
 * Returns the state of a transaction's attempts according to one RPC node. It reads the head first:
 * a block that the head already has at depth cannot be missing from a later answer. So a
 * transaction that is mined meanwhile is never taken for one that another transaction replaced.
 */
export async function observeTransaction(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<Observation, NodeProblem>> {
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return unusable('The RPC node has no newest block.');
  const found = await findReceipt(node, watched.hashes);
  if (!found.ok) return found;
  return found.value === null
    ? observeAbsence({ node, chain, watched, head: head.value })
    : observeInclusion({ node, chain, watched, head: head.value }, found.value);
}

interface View {
  readonly node: RpcNode;
  readonly chain: Chain;
  readonly watched: WatchedAttempts;
  readonly head: Block;
}

interface Found {
  readonly hash: string;
  readonly receipt: Receipt;
}

/**
 * Returns the first receipt. At most one attempt of a nonce can be on a chain, so it is the only
 * one.
 */
async function findReceipt(node: RpcNode, hashes: readonly string[]): Promise<Result<Found | null, NodeProblem>> {
  const receipts = await Promise.all(
    hashes.map(async (hash) => ({ hash, answer: await node.request(getReceipt(hash)) })),
  );
  for (const { hash, answer } of receipts) {
    if (!answer.ok) return answer;
    if (answer.value !== null) return accepted({ hash, receipt: answer.value });
  }
  return accepted(null);
}

async function observeInclusion(view: View, found: Found): Promise<Result<Observation, NodeProblem>> {
  const known = await view.node.request(getTransaction(found.hash));
  if (!known.ok) return known;
  if (known.value === null) return unshown('The RPC node has a receipt without its transaction.');
  return describeInclusion(view, { ...found, known: known.value });
}

interface Mined extends Found {
  readonly known: KnownTransaction;
}

async function describeInclusion(view: View, mined: Mined): Promise<Result<Observation, NodeProblem>> {
  const { hash, receipt, known } = mined;
  const { node, chain, head } = view;
  const [block, finalized] = await Promise.all([
    node.request(getBlock(receipt.blockNumber)),
    node.request(getBlock('finalized')),
  ]);
  if (!block.ok) return block;
  if (block.value?.hash !== receipt.blockHash)
    return unshown('The receipt is from a block that the RPC node does not have.');
  if (!finalized.ok && finalized.refusal.kind === 'no-answer') return finalized;
  const feePaid = feeOf(receipt);
  if (feePaid === null) return unshown('The RPC node returned an impossible fee.');
  const { confirmations, isFinal } = depthOf(receipt.blockNumber, { chain, head, finalized });
  const failure = await executionFailure(node, receipt, known);
  const evidence = await evidenceFor(view, mined);
  const included = { ...mined, confirmations, isFinal, unlogged: evidence.unlogged };
  const { isTraced, movements } = await moved(view, included);
  const inclusion: Inclusion = {
    hash,
    blockNumber: receipt.blockNumber.toString(),
    blockHash: receipt.blockHash,
    succeeded: receipt.succeeded,
    feePaid,
    confirmations,
    finalized: isFinal,
    failure,
    ...(evidence.transfer === null ? {} : { tokenTransfer: evidence.transfer }),
    ...movements,
  };
  return accepted({ type: 'included', inclusion, ...(isTraced ? {} : { untracedBy: [node.host] }) });
}

/**
 * Returns the evidence of a token payment. What two RPC nodes proved of this block stays: they have
 * the state of the block only for a time.
 */
async function evidenceFor({ node, watched }: View, { hash, receipt }: Found): Promise<TransferEvidence> {
  const { tokenPayment: payment } = watched;
  const before = recordedIn(watched);
  if (payment === undefined || !receipt.succeeded || !payment.hashes.includes(hash)) return DESCRIBED;
  const proven = isIn(before, { hash, receipt }) ? before.tokenTransfer : undefined;
  if (proven === 'moved' || proven === 'unmoved')
    return { transfer: proven, unlogged: before?.movements.filter(isUnlogged) ?? [] };
  return transferEvidence(node, watched.from, { payment, receipt });
}

/** Returns the recorded inclusion, whose contents are proven as far as they can be, or null. */
function recordedIn({ inclusion, isClaimed }: WatchedAttempts): Inclusion | null {
  return isClaimed === true ? null : inclusion;
}

/** Reports whether the recorded inclusion is in the block of a receipt. */
function isIn(before: Inclusion | null, { hash, receipt }: Found): before is Inclusion {
  return before?.hash === hash && before.blockHash === receipt.blockHash;
}

interface Included extends Mined {
  readonly confirmations: number;
  readonly isFinal: boolean;
  /** A movement that no log shows. */
  readonly unlogged: readonly ChainMovement[];
}

interface Moved {
  readonly movements: WalletMovements;
  /** False when the RPC node has no trace that can be read. */
  readonly isTraced: boolean;
}

/**
 * Returns the movements. They are read with the first observation of the block, again when it has
 * the chain's confirmations, and again when it is final, so an RPC node that temporarily cannot
 * trace delays nothing: it states the recorded payments by contracts again. Payments that no RPC
 * node traced by then are missing, and the reconciliation of the balance finds them.
 */
async function moved({ node, chain, watched }: View, included: Included): Promise<Moved> {
  const { hash, receipt, known, confirmations, isFinal, unlogged } = included;
  const before = recordedIn(watched);
  const isKnown = isIn(before, included);
  const isTurn =
    isFinal ||
    !isKnown ||
    (unlogged.length > 0 && !before.movements.some(isUnlogged)) ||
    (before.confirmations < chain.confirmations && confirmations >= chain.confirmations);
  if (!isTurn) return { movements: movedIn(before), isTraced: true };
  const trace = receipt.succeeded ? await node.request(traceTransaction(hash)) : null;
  const all = movementsIn(receipt, known, { trace: trace?.ok === true ? trace.value : null, chain });
  const read = await withCollectibles(node, all, { chain, block: receipt.blockNumber });
  const kept = isKnown && trace?.ok === false ? before.movements.filter(isByContract) : [];
  const movements = movementsOf(watched.from, [...read, ...unlogged, ...kept], chain);
  return { movements, isTraced: trace?.ok !== false };
}

async function observeAbsence(view: View): Promise<Result<Observation, NodeProblem>> {
  const { node, chain, watched } = view;
  const absence = await checkOwnAbsence(node, chain, watched, BLOCK_CALLS);
  if (!absence.ok) return (await isUnusedLater(view)) ? denial('The nonce is unused in a later final block.') : absence;
  const known = await Promise.all(watched.hashes.map((hash) => node.request(getTransaction(hash))));
  for (const answer of known) if (!answer.ok) return answer;
  if (known.some((answer) => answer.ok && answer.value?.mined === true))
    return unusable('The receipt is not available yet.');
  const inMempool = known.some((answer) => answer.ok && answer.value !== null);
  if (inMempool) {
    const waiting = { type: 'absent', inMempool, nonceTaken: false } as const;
    return accepted((await isTooCheap(view)) ? { ...waiting, isTooCheap: true } : waiting);
  }
  return observeUse(view);
}

/**
 * Reports whether the nonce is unused in a final block that is not before the recorded one: then
 * the recorded block holds no attempt, whether or not the RPC node still shows its transactions.
 */
async function isUnusedLater({ node, watched }: View): Promise<boolean> {
  const { inclusion, from, nonce } = watched;
  const finalized = inclusion === null ? null : await node.request(getBlock('finalized'));
  if (inclusion === null || finalized?.ok !== true || finalized.value === null) return false;
  const { number } = finalized.value;
  if (number < BigInt(inclusion.blockNumber)) return false;
  const count = await node.request(getNonce(from, number));
  return count.ok && count.value <= nonce;
}

/**
 * The number of successive blocks that burn more than an attempt offers, so that a single full
 * block does not count. Ours.
 */
const BLOCKS_TOO_DEAR = 5;

/**
 * Reports whether no block can include the newest attempt at its price, and none of the last ones
 * could. geth, reth and Erigon keep such bytes in their mempools without an error; all higher
 * nonces wait with them.
 */
async function isTooCheap({ node, watched, head }: View): Promise<boolean> {
  const offered = parseUnsigned(watched.newest.payload);
  if (!offered.ok) return false;
  const { maxFeePerGas } = offered.value;
  const isDearer = (block: Block | null) => (block?.baseFeePerGas ?? 0n) > maxFeePerGas;
  if (!isDearer(head)) return false;
  const before = Array.from({ length: BLOCKS_TOO_DEAR - 1 }, (_, i) => head.number - 1n - BigInt(i));
  if (before.some((number) => number < 0n)) return false;
  const blocks = await Promise.all(before.map((number) => node.request(getBlock(number))));
  return blocks.every((block) => block.ok && isDearer(block.value));
}

const UNEXPLAINED: Observation = { type: 'absent', inMempool: false, nonceTaken: false, isUnexplained: true };

/**
 * Observes the nonce itself when no RPC node knows the hashes, and names the transaction that used
 * it.
 */
async function observeUse(view: View): Promise<Result<Observation, NodeProblem>> {
  const { node, watched, head } = view;
  const user = await findNonceConsumer(node, { from: watched.from, nonce: watched.nonce, head: head.number });
  if (!user.ok) return user;
  if (user.value.kind === 'unused') return accepted({ type: 'absent', inMempool: false, nonceTaken: false });
  // It may have been mined between the two calls.
  const again = await findReceipt(node, watched.hashes);
  if (!again.ok) return again;
  if (again.value !== null) return unusable('The receipt appeared during the request.');
  if (user.value.kind === 'unexplained') return accepted(UNEXPLAINED);
  const { block, transaction } = user.value;
  if (watched.hashes.includes(transaction.hash)) return observeInBlock(view, block, transaction);
  const isFinal = await isProven(view, block);
  if (!isFinal.ok) return isFinal;
  if (!isFinal.value) return accepted({ type: 'absent', inMempool: false, nonceTaken: false });
  return accepted({ type: 'absent', inMempool: false, nonceTaken: true, takenBy: [transaction.hash] });
}

/**
 * Returns the inclusion of an attempt that is in this block although the RPC node does not find it
 * by its hash: the receipts of the block may still be available.
 */
async function observeInBlock(
  view: View,
  { number }: WholeBlock,
  known: BlockTransaction,
): Promise<Result<Observation, NodeProblem>> {
  const { hash } = known;
  const receipt = await view.node.request(getReceiptInBlock(number, hash));
  if (!receipt.ok) return receipt.refusal.kind === 'no-answer' ? receipt : accepted(UNEXPLAINED);
  if (receipt.value === null) return accepted(UNEXPLAINED);
  return describeInclusion(view, { hash, receipt: receipt.value, known });
}

/**
 * The age of a foreign transaction's block before it ends one of the vault's transactions. It is a
 * time, because a hundred blocks are 25 seconds on one chain and 20 minutes on another, and a
 * rollup whose finality is only counted could be seconds old. Ours.
 */
const FOREIGN_AGE_SECONDS = 600n;

/**
 * Reports whether a block is final and old enough by its own clock: its content ends a transaction,
 * and members may pay again.
 */
async function isProven(
  { node, chain, head }: View,
  { number, timestamp }: WholeBlock,
): Promise<Result<boolean, NodeProblem>> {
  const [finalized, newest] = await Promise.all([
    node.request(getBlock('finalized')),
    node.request(getBlockTimestamp('latest')),
  ]);
  if (!finalized.ok && finalized.refusal.kind === 'no-answer') return finalized;
  if (!newest.ok) return newest;
  const age = (newest.value ?? 0n) - timestamp;
  return accepted(depthOf(number, { chain, head, finalized }).isFinal && age >= FOREIGN_AGE_SECONDS);
}
