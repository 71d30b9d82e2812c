import type { FeeRates } from '#chains/bitcoin/rules/fee-rate.ts';
import type { BitcoinFeeEstimate } from '#chains/chain-client.ts';
import type { Choice } from '#chains/bitcoin/client/coin-selection.ts';
import { readUtxos } from '#chains/bitcoin/client/utxos.ts';
import { selectUtxos } from '#chains/bitcoin/client/coin-selection.ts';
import { spendableTransfer } from '#chains/bitcoin/client/quote.ts';
import { rateTiers } from '#chains/bitcoin/rules/fee-rate.ts';
import { outpointText, totalOf } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';
import { feeOf, sizeOfShape } from '#chains/bitcoin/rules/transaction.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent } from '#chains/permanent-fault.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Returns the current cost of an intent at three speeds, with any UTXOs of the wallet that are not
 * locked. Refuses RECIPIENT_REFUSED and INSUFFICIENT_FUNDS as `quoteTransfer` does.
 */
export async function estimateFee(
  node: RpcNode,
  intent: OnChainIntent,
  { rates, locked }: { readonly rates: FeeRates; readonly locked: ReadonlySet<string> },
): Promise<Result<BitcoinFeeEstimate, PermanentFault | NodeProblem>> {
  const payment = spendableTransfer(intent);
  if (!payment.ok) return payment;
  const utxos = await readUtxos(node, intent.from);
  if (!utxos.ok) return utxos;
  const free = utxos.value.filter((utxo) => !locked.has(outpointText(utxo)));
  const tiers = rateTiers(rates);
  const [slow, normal, fast] = [tiers.slow, tiers.normal, tiers.fast].map((rate) =>
    tierAt(payment.value, { kept: [], free, bid: { rate, replaced: null, parent: null } }),
  );
  if (slow == null || normal == null || fast == null) {
    return refused(permanent('INSUFFICIENT_FUNDS', `The wallet holds ${totalOf(free)} satoshi that are not locked.`));
  }
  return accepted({
    virtualSize: normal.virtualSize.toString(),
    slow: slow.tier,
    normal: normal.tier,
    fast: fast.tier,
  });
}

/** Returns null when the UTXOs do not suffice. */
function tierAt(payment: Payment, choice: Choice) {
  const terms = selectUtxos(payment, choice);
  if (terms === null) return null;
  const fee = amountOf(feeOf(payment, terms));
  return {
    virtualSize: sizeOfShape(payment, { utxos: terms.utxos.length, hasChange: terms.change > 0n }),
    // Unlike gas, the fee is known to the satoshi before the broadcast.
    tier: { feeRate: choice.bid.rate.toString(), expectedFee: fee, maxFee: fee },
  };
}
