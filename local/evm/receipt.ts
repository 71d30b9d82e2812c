import type { Client, Hex, TransactionReceipt } from 'viem';
import { getTransactionReceipt } from 'viem/actions';
import { TransactionReceiptNotFoundError } from 'viem';
import { pollUntil } from '#local/stack/poll.ts';

const DEADLINE_MS = 180_000;
const POLL_MS = 20;

/**
 * Returns the receipt of a transaction, when the local chain has mined it. The wait of viem is not
 * used: it reads a receipt only at a new block, and it misses the block that comes while it reads
 * the transaction. A local chain has no later block.
 */
export function minedReceipt(client: Client, hash: Hex): Promise<TransactionReceipt> {
  const receipt = async () => {
    try {
      return await getTransactionReceipt(client, { hash });
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw error;
    }
  };
  return pollUntil(`receipt of ${hash}`, receipt, DEADLINE_MS, POLL_MS);
}
