import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { KnownTransaction, Log, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { replay } from '#chains/evm/client/rpc-calls.ts';
import { revertReason } from '#chains/evm/client/revert.ts';
import { TRANSFER_SELECTOR } from '#chains/evm/rules/call.ts';
import { TRANSFER } from '#chains/evm/rules/transfer-topics.ts';

/** Selector and two words. */
const TRANSFER_CALL_LENGTH = 2 + 2 * 68;

/**
 * Returns why a mined transaction did not do its job; null when it did. A token transfer succeeded
 * only when the token's log also shows it, because some tokens return false without a revert. The
 * logged amount is not compared, because a token may deduct its fee from it.
 */
export async function executionFailure(
  node: RpcNode,
  receipt: Receipt,
  known: KnownTransaction,
): Promise<string | null> {
  if (receipt.succeeded) {
    const moved = !isTokenTransfer(known) || receipt.logs.some((log) => isTransferOf(log, known));
    return moved ? null : 'The token was not transferred.';
  }
  if (receipt.gasUsed === known.gasLimit) return 'The transaction used all of its gas.';
  // The state after the block is the only one that every RPC node still has, and the cause of the
  // failure is nearly always still present in it. When a node cannot replay the transaction, its
  // failure is reported without the reason.
  const replayed = await node.request(replay(known, receipt.blockNumber));
  return (replayed.ok ? null : revertReason(replayed.refusal)) ?? 'The transaction reverted.';
}

function isTokenTransfer(known: KnownTransaction): boolean {
  return known.data.length === TRANSFER_CALL_LENGTH && known.data.startsWith(TRANSFER_SELECTOR);
}

/**
 * Reports whether a log is the transfer of a call. Sender and recipient may be topics, as the
 * standard requires, or data, as in some old tokens: both have the same words.
 */
function isTransferOf(log: Log, known: KnownTransaction): boolean {
  const [topic, ...indexed] = log.topics;
  const words = `${indexed.map((value) => value.slice(2)).join('')}${log.data.slice(2)}`;
  const sender = known.from.slice(2).padStart(64, '0');
  const recipient = known.data.slice(10, 74);
  return log.address === known.to && topic === TRANSFER && words.startsWith(`${sender}${recipient}`);
}
