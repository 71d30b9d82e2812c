import type { SolanaFeeEstimate } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { priceTiers } from '#chains/solana/client/price.ts';
import { costAt, planPayment } from '#chains/solana/client/quote.ts';
import { accountRentOf } from '#chains/solana/rules/payment-terms.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns the current cost of an intent at three speeds, with the accounts that it opens. Refuses
 * what `planPayment` refuses.
 */
export async function estimateFee(
  node: RpcNode,
  intent: OnChainIntent,
): Promise<Result<SolanaFeeEstimate, PermanentFault | NodeProblem>> {
  const plan = await planPayment(node, intent);
  if (!plan.ok) return plan;
  const prospect = plan.value;
  const { token, unitLimit, nonceRent, announcedFee } = prospect;
  const hasNonce = prospect.openSlots.length > 0;
  const tier = (unitPrice: bigint) => ({
    unitPrice: unitPrice.toString(),
    expectedFee: amountOf(costAt(prospect, unitPrice, !hasNonce)),
    maxFee: amountOf(costAt(prospect, unitPrice, true)),
  });
  const { slow, normal, fast } = priceTiers(prospect.paid);
  const opened = (hasNonce ? 0n : nonceRent) + accountRentOf(token);
  return accepted({
    unitLimit: String(unitLimit),
    accountRent: amountOf(opened),
    tokenFee: amountOf(announcedFee),
    slow: tier(slow),
    normal: tier(normal),
    fast: tier(fast),
  });
}
