import type { EvmFeeEstimate } from '#chains/chain-adapter.ts';
import { callOf } from '#chains/evm/call.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { targetFault } from '#chains/evm/dry-run.ts';
import type { Fees } from '#chains/evm/fees.ts';
import { feeTiers, median } from '#chains/evm/fees.ts';
import type { Trouble } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import { askBlock, askPaidTips, askTip } from '#chains/evm/question.ts';
import { costOf } from '#chains/evm/quote.ts';
import { amountOf } from '#domain/amount.ts';
import type { OnChainIntent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * What an intent would cost now at three speeds. Refuses what the call itself would meet: SIMULATION_REVERTED,
 * ALLOWANCE_NOT_ZERO, INSUFFICIENT_FUNDS for what is paid (not for the fee).
 */
export async function estimateFee(
  node: RpcNode,
  intent: OnChainIntent,
): Promise<Result<EvmFeeEstimate, PermanentFault | Trouble>> {
  const call = callOf(intent);
  if (call === null) throw new Error('a rehearsed intent is in canonical form');
  const [fault, block, suggested, paid] = await Promise.all([
    targetFault(node, intent, call),
    node.ask(askBlock('latest')),
    node.ask(askTip),
    node.ask(askPaidTips),
  ]);
  if (fault !== null) return refused(fault);
  if (!block.ok) return block;
  const base = block.value?.baseFeePerGas ?? null;
  if (base === null) return refused({ kind: 'unfit', detail: 'the chain has no base fee (EIP-1559)' });
  const tips = paid.ok ? paid.value : [];
  const tiers = feeTiers(intent.chain, base, {
    suggested: suggested.ok ? suggested.value : median(tips.map(({ middle }) => middle)),
    low: median(tips.map(({ low }) => low)),
    high: median(tips.map(({ high }) => high)),
  });
  const cost = await costOf(node, intent, { call, price: tiers.fast });
  if (!cost.ok) return cost;
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
