import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { KnownTransaction, Log, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { replay } from '#chains/evm/client/rpc-calls.ts';
import { revertReason } from '#chains/evm/client/revert.ts';
import { TRANSFER_SELECTOR } from '#chains/evm/rules/call.ts';
import { TRANSFER } from '#chains/evm/rules/transfer-topics.ts';

/** Selector and two words. */
const TRANSFER_CALL_LENGTH = 2 + 2 * 68;

/**
 * Why a mined transaction did not do what it was for; null when it did. A token transfer succeeded only when the token also says
 * so in its log: some answer false and stay standing. The logged amount is not compared, because a token may take
 * its fee out of it.
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
  // The state after the block is the only one that every node still has; what made it fail is nearly always still so. A node that
  // cannot replay it holds nothing up: that it failed is known without the reason.
  const replayed = await node.request(replay(known, receipt.blockNumber));
  return (replayed.ok ? null : revertReason(replayed.refusal)) ?? 'The transaction reverted.';
}

function isTokenTransfer(known: KnownTransaction): boolean {
  return known.data.length === TRANSFER_CALL_LENGTH && known.data.startsWith(TRANSFER_SELECTOR);
}

/** Sender and recipient may be topics, as the standard wants, or data, as in some old tokens: as words they read the same. */
function isTransferOf(log: Log, known: KnownTransaction): boolean {
  const [topic, ...indexed] = log.topics;
  const words = `${indexed.map((value) => value.slice(2)).join('')}${log.data.slice(2)}`;
  const sender = known.from.slice(2).padStart(64, '0');
  const recipient = known.data.slice(10, 74);
  return log.address === known.to && topic === TRANSFER && words.startsWith(`${sender}${recipient}`);
}
