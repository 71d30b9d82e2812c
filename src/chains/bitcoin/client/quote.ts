import type { FeeRates } from '#chains/bitcoin/rules/fee-rate.ts';
import type { BusyFault } from '#chains/chain-client.ts';
import type { BitcoinQuote } from '#chains/bitcoin/rules/compose.ts';
import type { FeeBid, Parent } from '#chains/bitcoin/client/fee-bid.ts';
import type { Choice } from '#chains/bitcoin/client/coin-selection.ts';
import type { ProofServers } from '#chains/bitcoin/client/utxo-proof.ts';
import { chooseProven } from '#chains/bitcoin/client/utxo-proof.ts';
import { mayCarryMore, selectUtxos, smallestUtxos } from '#chains/bitcoin/client/coin-selection.ts';
import { readUtxos } from '#chains/bitcoin/client/utxos.ts';
import { keptUtxos } from '#chains/bitcoin/client/kept-utxos.ts';
import { maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import type { UnspentOutput } from '#chains/bitcoin/client/rpc-calls.ts';
import { getTip, getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import { rateTiers } from '#chains/bitcoin/rules/fee-rate.ts';
import { replacedBy } from '#chains/bitcoin/client/replacement.ts';
import { missingFunds } from '#chains/bitcoin/client/missing-funds.ts';
import type { SpendPlan, Utxo } from '#chains/bitcoin/rules/utxo.ts';
import { dustOf, outpointText, virtualBytes } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';
import { feeOf, paymentOf, sizeOfShape } from '#chains/bitcoin/rules/transaction.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent } from '#chains/permanent-fault.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt, Speed } from '#domain/transaction/transaction.ts';

/** Why a quote is refused. */
export type QuoteFault = PermanentFault | BusyFault | NodeProblem;

interface QuoteRequest {
  readonly intent: OnChainIntent;
  readonly replaced: Attempt | null;
  /** UTXOs that other transactions of the wallet have reserved. */
  readonly taken: ReadonlySet<string>;
  /** UTXOs that members have locked. No payment spends them, and no payment waits for them. */
  readonly locked: ReadonlySet<string>;
  readonly speed: Speed;
  readonly rates: FeeRates;
  /**
   * For a consolidation: the number of the smallest UTXOs that it spends; 0 for everything else.
   */
  readonly joins: number;
  /** Whether a consolidation spends UTXOs that may carry more than satoshi, too. */
  readonly includeMayCarryMore: boolean;
}

/**
 * Returns the UTXOs that pay an intent now, and the fee. A UTXO is spent only when servers show it
 * (see `chooseProven`) and when it has the confirmations of the chain: a transaction that spends a
 * UTXO which a reorg removes can never be included. A replacement keeps every UTXO of the replaced
 * attempt, in the same order, and adds more when its fee requires them. A cancellation may leave
 * out UTXOs that no server shows (see `keptUtxos`).
 *
 * Refuses permanently, in order: RECIPIENT_REFUSED for less than RPC nodes relay to such an
 * address, PARENT_NOT_WAITING when a parent is in a block, dropped, or pays the wallet nothing,
 * TOO_MANY_COINS, INSUFFICIENT_FUNDS, FEE_CAP_EXCEEDED. Refuses `busy` when the wallet has enough,
 * but not in UTXOs that can be spent now, or only in some that may carry more than satoshi.
 */
export async function quoteTransfer(
  servers: ProofServers,
  chain: Chain,
  { intent, replaced, taken, locked, speed, rates, joins, includeMayCarryMore }: QuoteRequest,
): Promise<Result<BitcoinQuote, QuoteFault>> {
  const payment = spendableTransfer(intent);
  if (!payment.ok) return payment;
  const { node } = servers;
  const [listed, tip] = await Promise.all([readUtxos(node, intent.from), node.request(getTip)]);
  if (!listed.ok) return listed;
  if (!tip.ok) return tip;
  const utxos = listed.value.filter((utxo) => !locked.has(outpointText(utxo)));
  const parent = await parentOf(node, intent, { replaced, utxos, most: maxInputsOf(payment.value.own) });
  if (!parent.ok) return parent;
  const kept = replaced === null ? (parent.value?.utxos ?? []) : await keptUtxos(servers, replaced, payment.value);
  const isKept = new Set(kept.map(outpointText));
  if (replaced === null && kept.some((utxo) => taken.has(outpointText(utxo)))) return refused({ kind: 'busy' });
  const others = utxos.filter((utxo) => !isKept.has(outpointText(utxo)));
  const hasArrived = ({ block }: UnspentOutput) =>
    block !== null && depthOf(block, tip.value, chain).confirmations >= chain.confirmations;
  const isJoining = joins > 0 && replaced === null;
  const mayJoin = (utxo: Utxo) => !isJoining || includeMayCarryMore || !mayCarryMore(payment.value.own, utxo);
  const eligible = others.filter(mayJoin);
  const free = eligible.filter((utxo) => hasArrived(utxo) && !taken.has(outpointText(utxo)));
  const bid: FeeBid = {
    // A child that pays for its parent is urgent.
    rate: rateTiers(rates)[parent.value === null ? speed : 'fast'],
    replaced: replaced === null ? null : replacedBy(replaced),
    parent: parent.value,
  };
  const claim = {
    utxos: replaced === null ? utxos : others,
    own: payment.value.own,
    chain,
    tip: tip.value,
    isOrderFree: kept.length === 0,
  };
  const proven = await chooseProven(servers, claim, (unproven) => {
    const shown = free.filter((utxo) => !unproven.has(outpointText(utxo)));
    if (!isJoining) return selectUtxos(payment.value, { kept, free: shown, bid });
    const joined = smallestUtxos(payment.value.own, shown, { rate: bid.rate, count: joins });
    return joined === null ? null : selectUtxos(payment.value, { kept: joined, free: [], bid });
  });
  if (!proven.ok) return proven;
  if (proven.value === null) {
    const fault = isJoining
      ? joiningFault(payment.value, eligible, { rate: bid.rate, count: joins })
      : missingFunds(payment.value, { utxos: [...kept, ...others], hasLocks: locked.size > 0 }, bid);
    return refused(fault);
  }
  const { terms, parents } = proven.value;
  if (!isJoining && canWait(payment.value, terms, { kept, free: others, bid })) return refused({ kind: 'busy' });
  const fee = feeOf(payment.value, terms);
  if (fee > BigInt(intent.maxFee)) {
    const detail = `The fee is ${fee} satoshi. The maximum is ${intent.maxFee} satoshi.`;
    return refused(permanent('FEE_CAP_EXCEEDED', detail));
  }
  return accepted({ terms, parents, maxFee: amountOf(fee), ...namesAndSize(payment.value, terms) });
}

/** Returns the names of what a plan spends, and the size of its transaction in virtual bytes. */
function namesAndSize(payment: Payment, terms: SpendPlan): Pick<BitcoinQuote, 'utxos' | 'virtualSize'> {
  const size = sizeOfShape(payment, { utxos: terms.utxos.length, hasChange: terms.change > 0n });
  return { utxos: terms.utxos.map(outpointText), virtualSize: size.toString() };
}

interface WaitingChoice extends Choice {
  /** The UTXOs of the wallet, spendable now or not. */
  readonly free: readonly UnspentOutput[];
}

/**
 * Reports whether a plan spends a UTXO that may carry more than satoshi although the larger UTXOs
 * of the wallet suffice once they can be spent: other transactions have reserved some, or they are
 * not deep enough, or a server does not show them. A wait ends, and what a UTXO carries is lost
 * with it. The change of the attempt that a replacement replaces never arrives, so a replacement
 * counts only UTXOs in blocks.
 */
function canWait(payment: Payment, { utxos }: SpendPlan, { kept, free, bid }: WaitingChoice): boolean {
  const isKept = new Set(kept.map(outpointText));
  const mayCarry = (utxo: Utxo) => mayCarryMore(payment.own, utxo);
  if (!utxos.some((utxo) => mayCarry(utxo) && !isKept.has(outpointText(utxo)))) return false;
  const larger = free.filter((utxo) => !mayCarry(utxo) && (bid.replaced === null || utxo.block !== null));
  return selectUtxos(payment, { kept, free: larger, bid }) !== null;
}

/**
 * Returns `busy` when the UTXOs of a consolidation cannot be spent now, else
 * NOTHING_TO_CONSOLIDATE.
 */
function joiningFault(
  { own }: Payment,
  others: readonly Utxo[],
  requested: { readonly rate: bigint; readonly count: number },
): PermanentFault | BusyFault {
  if (smallestUtxos(own, others, requested) !== null) return { kind: 'busy' };
  const detail =
    'The wallet has fewer than two UTXOs that are worth more than their fee. ' +
    'UTXOs that may carry more than satoshi count only when the request includes them.';
  return permanent('NOTHING_TO_CONSOLIDATE', detail);
}

/** Returns an intent as a payment. Refuses an amount that no RPC node relays. */
export function spendableTransfer(intent: OnChainIntent): Result<Payment, PermanentFault> {
  const payment = intent.kind === 'transfer' ? paymentOf(intent) : null;
  if (payment === null) throw new Error('a stored intent is not a transfer, or not in canonical form');
  const least = payment.to === null ? 0n : dustOf(payment.to.script);
  if (payment.to === null || payment.to.amount >= least) return accepted(payment);
  const detail = `The amount is below the dust limit of ${least} satoshi for this type of address.`;
  return refused(permanent('RECIPIENT_REFUSED', detail));
}

interface ParentQuery {
  readonly replaced: Attempt | null;
  /** The UTXOs of the wallet, including unconfirmed ones. */
  readonly utxos: readonly UnspentOutput[];
  /** The maximum number that one transaction can spend. */
  readonly most: number;
}

/**
 * Returns the parent that a child pays for; null when it pays for none, or the parent needs no
 * payment any more.
 */
async function parentOf(
  node: RpcNode,
  intent: OnChainIntent,
  { replaced, utxos, most }: ParentQuery,
): Promise<Result<Parent | null, PermanentFault | NodeProblem>> {
  const hash = intent.kind === 'transfer' ? intent.paysFor : undefined;
  if (hash === undefined) return accepted(null);
  const response = await node.request(getTransaction(hash));
  if (!response.ok) return response;
  const own = utxos.flatMap(({ block, ...utxo }) => (block === null && utxo.txid === hash ? [utxo] : []));
  if (response.value?.block === null && (own.length > 0 || replaced !== null)) {
    const { fee, weight } = response.value;
    return accepted({ fee, virtualSize: virtualBytes(weight), utxos: own.slice(0, most) });
  }
  if (replaced !== null) return accepted(null);
  return refused(
    permanent(
      'PARENT_NOT_WAITING',
      'The parent transaction is already in a block, was dropped, or does not pay the wallet in a UTXO without lock.',
    ),
  );
}
