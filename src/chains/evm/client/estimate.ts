import type { EvmFeeEstimate } from '#chains/chain-client.ts';
import { callOf } from '#chains/evm/rules/call.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { tokensHeld } from '#chains/evm/client/dry-run.ts';
import type { Fees } from '#chains/evm/client/fees.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { costOf, marketTiers } from '#chains/evm/client/quote.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns the current cost of an intent at three speeds. Refuses with the failure of the call
 * itself: SIMULATION_REVERTED, ALLOWANCE_NOT_ZERO, or INSUFFICIENT_FUNDS for the amount (not for
 * the fee).
 */
export async function estimateFee(
  node: RpcNode,
  intent: OnChainIntent,
  chain: Chain,
): Promise<Result<EvmFeeEstimate, PermanentFault | NodeProblem>> {
  const call = callOf(intent);
  if (call === null) throw new Error('a previewed intent is not in canonical form');
  const reading = marketTiers(node, { chain, intent, call });
  const price = reading.then((read) => (read.ok ? accepted(read.value.tiers.fast) : read));
  const [tokens, market, cost] = await Promise.all([
    tokensHeld(node, intent, { call, tag: 'latest' }),
    reading,
    costOf(node, intent, { chain, call, price }),
  ]);
  if (!tokens.ok) return tokens;
  if (!market.ok) return market;
  if (!cost.ok) return cost;
  const { baseFeePerGas: base, tiers } = market.value;
  const { gasLimit, dataFee } = cost.value;
  const tier = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees) => ({
    maxFeePerGas: maxFeePerGas.toString(),
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    expectedFee: amountOf(gasLimit * (base + maxPriorityFeePerGas) + dataFee),
    maxFee: amountOf(gasLimit * maxFeePerGas + dataFee),
  });
  const { slow, normal, fast } = tiers;
  return accepted({
    gasLimit: gasLimit.toString(),
    dataFee: amountOf(dataFee),
    slow: tier(slow),
    normal: tier(normal),
    fast: tier(fast),
  });
}
