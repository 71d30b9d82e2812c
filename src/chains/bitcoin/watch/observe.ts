import { checkOwnAbsence } from '#chains/rpc/absence-check.ts';
import { utxoStatusOf } from '#chains/bitcoin/watch/utxo-status.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import { movementsIn } from '#chains/bitcoin/watch/movements.ts';
import type { ChainTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { getTip, getTransaction, BLOCK_CALLS } from '#chains/bitcoin/client/rpc-calls.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns the state of a transaction's attempts: in a block, unconfirmed, or absent. It is `absent`
 * with the nonce taken when another transaction has spent one of their UTXOs, or an input of a
 * UTXO's parent, in a block that is beyond any reorg. A UTXO that the server does not have proves
 * nothing.
 */
export async function observeTransaction(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<Observation, NodeProblem>> {
  const { from, hashes } = watched;
  let inMempool = false;
  for (const hash of hashes) {
    const transfer = await node.request(getTransaction(hash));
    if (!transfer.ok) return transfer;
    if (transfer.value === null) continue;
    if (transfer.value.hash !== hash) return unusable('The RPC node returned another transaction.');
    if (transfer.value.block !== null) return included(node, chain, { ...transfer.value, from });
    inMempool = true;
  }
  const absence = await checkOwnAbsence(node, chain, watched, BLOCK_CALLS);
  if (!absence.ok) return absence;
  if (inMempool) return accepted({ type: 'absent', inMempool, nonceTaken: false });
  const status = await utxoStatusOf(node, chain, watched);
  if (!status.ok) return status;
  if (status.value.status === 'unexplained') return accepted({ ...NOWHERE, isUnexplained: true });
  if (status.value.status === 'final')
    return accepted({ ...NOWHERE, nonceTaken: true, takenBy: status.value.spenders });
  return accepted(status.value.status === 'unknown' ? { ...NOWHERE, isCoinUnknown: true } : NOWHERE);
}

const NOWHERE = { type: 'absent', inMempool: false, nonceTaken: false } as const;

async function included(
  node: RpcNode,
  chain: Chain,
  { from, ...transfer }: ChainTransfer & { readonly from: string },
): Promise<Result<Observation, NodeProblem>> {
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  const { hash, fee, block } = transfer;
  if (block === null) return unusable('A reorg removed the block of the transaction.');
  const { number, hash: blockHash, confirmations, isFinal } = depthOf(block, tip.value, chain);
  return accepted({
    type: 'included',
    inclusion: {
      hash,
      blockNumber: number,
      blockHash,
      succeeded: true,
      feePaid: amountOf(fee),
      confirmations,
      finalized: isFinal,
      failure: null,
      ...movementsOf(from, movementsIn(transfer), chain),
    },
  });
}
