import { isHash } from '#chains/bitcoin/rules/utxo.ts';
import { checkAbsence } from '#chains/rpc/absence-check.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import { MINER, movementsIn, payerOf } from '#chains/bitcoin/watch/movements.ts';
import { getTip, getTransaction, BLOCK_CALLS } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns a transaction with all its movements; null when the server does not have it. An
 * unconfirmed one is reported as such only when no block held it before.
 */
export async function readActivity(
  node: RpcNode,
  chain: Chain,
  { hash, found }: { readonly hash: string; readonly found: ActivityBlock | null },
): Promise<Result<ChainTransaction | null, NodeProblem>> {
  // No chain has a malformed hash, and a server would answer with an error.
  if (!isHash(hash)) return accepted(null);
  const transfer = await node.request(getTransaction(hash));
  if (!transfer.ok) return transfer;
  const absence = () => checkAbsence(node, chain, { block: found, hashes: [hash] }, BLOCK_CALLS);
  if (transfer.value === null) return absence();
  if (transfer.value.hash !== hash) return unusable('The RPC node returned another transaction.');
  const observed = {
    hash,
    signer: payerOf(transfer.value) ?? MINER,
    fee: amountOf(transfer.value.fee),
    movements: movementsIn(transfer.value),
  };
  if (transfer.value.block === null) return found === null ? accepted({ ...observed, block: null }) : absence();
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  return accepted({ ...observed, block: depthOf(transfer.value.block, tip.value, chain) });
}
