import { absenceOf } from '#chains/absence.ts';
import type { Observation, Watched } from '#chains/chain-adapter.ts';
import type { Trouble } from '#chains/fleet.ts';
import { unfit } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import { countedFinalDepth, depthOf } from '#chains/evm/depth.ts';
import { executionFailure } from '#chains/evm/execution.ts';
import { movementsIn } from '#chains/evm/movements.ts';
import type { Block, KnownTransaction, Receipt } from '#chains/evm/question.ts';
import { askBlock, askNonce, askReceipt, askTrace, askTransaction, BLOCKS } from '#chains/evm/question.ts';
import { parseAmount } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';
import type { WalletMovements } from '#domain/movement.ts';
import { movementsOf } from '#domain/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Inclusion } from '#domain/transaction.ts';

/**
 * Where the attempts of a transaction are, as one node sees it. The head is asked first and everything else after it: what the
 * head already holds at depth cannot be missing from a later answer, so a transaction that is mined meanwhile is never taken
 * for one that somebody else has replaced.
 */
export async function observeTransaction(
  node: RpcNode,
  chain: Chain,
  watched: Watched,
): Promise<Result<Observation, Trouble>> {
  const head = await node.ask(askBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return unfit('the node has no head');
  const found = await findReceipt(node, watched.hashes);
  if (!found.ok) return found;
  return found.value === null
    ? observeAbsence({ node, chain, watched, head: head.value })
    : observeInclusion({ node, chain, watched, head: head.value }, found.value);
}

interface View {
  readonly node: RpcNode;
  readonly chain: Chain;
  readonly watched: Watched;
  readonly head: Block;
}

interface Found {
  readonly hash: string;
  readonly receipt: Receipt;
}

/** At most one attempt of a nonce can be in a chain, so the first receipt is the only one. */
async function findReceipt(node: RpcNode, hashes: readonly string[]): Promise<Result<Found | null, Trouble>> {
  const receipts = await Promise.all(hashes.map(async (hash) => ({ hash, answer: await node.ask(askReceipt(hash)) })));
  for (const { hash, answer } of receipts) {
    if (!answer.ok) return answer;
    if (answer.value !== null) return accepted({ hash, receipt: answer.value });
  }
  return accepted(null);
}

async function observeInclusion(view: View, { hash, receipt }: Found): Promise<Result<Observation, Trouble>> {
  const { node, chain, head } = view;
  const [block, finalized, known] = await Promise.all([
    node.ask(askBlock(receipt.blockNumber)),
    node.ask(askBlock('finalized')),
    node.ask(askTransaction(hash)),
  ]);
  if (!block.ok) return block;
  if (block.value?.hash !== receipt.blockHash) return unfit('the receipt is from a block that the node does not have');
  if (!finalized.ok && finalized.refusal.kind === 'no-answer') return finalized;
  if (!known.ok) return known;
  if (known.value === null) return unfit('the node has a receipt without its transaction');
  const feePaid = parseAmount((receipt.gasUsed * receipt.effectiveGasPrice + receipt.l1Fee).toString());
  if (feePaid === null) return unfit('the node tells an impossible fee');
  const { confirmations, isFinal } = depthOf(receipt.blockNumber, { chain, head, finalized });
  const failure = await executionFailure(node, receipt, known.value);
  const inclusion: Inclusion = {
    hash,
    blockNumber: receipt.blockNumber.toString(),
    blockHash: receipt.blockHash,
    succeeded: failure === null,
    feePaid,
    confirmations,
    finalized: isFinal,
    failure,
    ...(await moved(view, { hash, receipt, known: known.value, confirmations, isFinal })),
  };
  return accepted({ type: 'included', inclusion });
}

interface Included extends Found {
  readonly known: KnownTransaction;
  readonly confirmations: number;
  readonly isFinal: boolean;
}

/**
 * What it moved, found out with the first look at the block that it is in, and again when that is deep enough and when it is final: a node that
 * can not trace just then holds nothing up. Whoever sees more of the same block is right. What nobody could trace by then is missing, and the
 * reconciliation of the balance finds it.
 */
async function moved({ node, chain, watched }: View, included: Included): Promise<WalletMovements> {
  const { hash, receipt, known, confirmations, isFinal } = included;
  const before = watched.inclusion;
  const isKnown = before?.hash === hash && before.blockHash === receipt.blockHash;
  const isTurn =
    isFinal || !isKnown || (before.confirmations < chain.confirmations && confirmations >= chain.confirmations);
  if (!isTurn) return movedBefore(before);
  const trace = receipt.succeeded ? await node.ask(askTrace(hash)) : null;
  const now = movementsOf(watched.from, movementsIn(receipt, known, trace?.ok === true ? trace.value : null), chain);
  return isKnown && now.movementCount <= before.movementCount ? movedBefore(before) : now;
}

function movedBefore({ movements, movementCount, changes }: Inclusion): WalletMovements {
  return { movements, movementCount, changes };
}

async function observeAbsence(view: View): Promise<Result<Observation, Trouble>> {
  const { node, watched } = view;
  const gone = await absenceOf(node, watched, BLOCKS);
  if (!gone.ok) return gone;
  const known = await Promise.all(watched.hashes.map((hash) => node.ask(askTransaction(hash))));
  for (const answer of known) if (!answer.ok) return answer;
  if (known.some((answer) => answer.ok && answer.value?.mined === true)) return unfit('the receipt is not there yet');
  const inMempool = known.some((answer) => answer.ok && answer.value !== null);
  if (inMempool) return accepted({ type: 'absent', inMempool, nonceTaken: false });
  const taken = await nonceTaken(view);
  return taken.ok ? accepted({ type: 'absent', inMempool, nonceTaken: taken.value }) : taken;
}

/** Behind one address there can be several nodes, and one may be behind another. Most have no state that is older than 128 blocks. */
const TAKEN_DEPTH = 100n;

/**
 * Whether the account's nonce is used for good by a transaction that is none of ours. It ends the transaction, and whoever is told so may pay
 * again: so it is believed only where whoever is asked for the nonce would have to be far ahead of whoever is asked for the receipts, and
 * after those were looked for once more.
 */
async function nonceTaken(view: View): Promise<Result<boolean, Trouble>> {
  const { node, watched } = view;
  const newest = await node.ask(askNonce(watched.from, 'latest'));
  if (!newest.ok) return newest;
  if (newest.value <= watched.nonce) return accepted(false);
  const count = await oldNonce(view);
  if (!count.ok) return count;
  if (count.value <= watched.nonce) return accepted(false);
  const again = await findReceipt(node, watched.hashes);
  if (!again.ok) return again;
  return again.value === null ? accepted(true) : unfit('the receipt came only now');
}

/** As deep as the node can tell; 0 where it can not at all, or there are not as many blocks. */
async function oldNonce({ node, chain, watched, head }: View): Promise<Result<bigint, Trouble>> {
  for (const depth of [TAKEN_DEPTH, countedFinalDepth(chain)]) {
    if (head.number < depth) return accepted(0n);
    const count = await node.ask(askNonce(watched.from, head.number - depth));
    if (count.ok || count.refusal.kind === 'no-answer') return count;
  }
  return accepted(0n);
}
