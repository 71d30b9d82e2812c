import type { BusyFault, Quote } from '#chains/chain-adapter.ts';
import type { Witnesses } from '#chains/bitcoin/coin-proof.ts';
import { chooseProven } from '#chains/bitcoin/coin-proof.ts';
import { keptCoins } from '#chains/bitcoin/kept-coins.ts';
import { mostCoinsOf } from '#chains/bitcoin/lock.ts';
import type { UnspentCoin } from '#chains/bitcoin/question.ts';
import { askCoins, askFeeRates, askTip, askTransaction } from '#chains/bitcoin/question.ts';
import { depthOf } from '#chains/bitcoin/depth.ts';
import { feeAt, larger, raisedFee, rateTiers } from '#chains/bitcoin/rate.ts';
import type { Coin, Terms } from '#chains/bitcoin/terms.ts';
import { dustOf, nameOf, totalOf, virtualBytes, virtualSizeOf } from '#chains/bitcoin/terms.ts';
import type { Payment } from '#chains/bitcoin/transaction.ts';
import { feeOf, paymentOf } from '#chains/bitcoin/transaction.ts';
import type { Trouble } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent } from '#chains/permanent-fault.ts';
import { amountOf } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';
import type { OnChainIntent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt, CoinParent, Speed } from '#domain/transaction.ts';

export interface BitcoinQuote extends Quote {
  readonly terms: Terms;
  /** What the transactions that made the coins spend. */
  readonly parents?: readonly CoinParent[];
}

interface QuoteRequest {
  readonly intent: OnChainIntent;
  readonly replaced: Attempt | null;
  /** Coins that other transactions of the wallet have claimed. */
  readonly taken: ReadonlySet<string>;
  readonly speed: Speed;
}

/**
 * Which coins carry an intent out now, and at what fee. Only coins are spent that servers show (see `chooseProven`) and that are as deep as a payment has to be to count are spent: what spends
 * a coin that a reorganisation takes away can never be included. A replacement keeps every coin of what it replaces, in the same order, and
 * adds more where its fee asks for them.
 *
 * Refuses for good, in order: RECIPIENT_REFUSED for less than nodes relay to such an address, PARENT_NOT_WAITING where a parent is in a
 * block, gone, or pays the wallet nothing, INSUFFICIENT_FUNDS, FEE_CAP_EXCEEDED; and `busy` when the wallet has enough, but not in coins
 * that can be spent now.
 */
export async function quoteTransfer(
  witnesses: Witnesses,
  chain: Chain,
  { intent, replaced, taken, speed }: QuoteRequest,
): Promise<Result<BitcoinQuote, PermanentFault | BusyFault | Trouble>> {
  const payment = payable(intent);
  if (!payment.ok) return payment;
  const { node } = witnesses;
  const [coins, rates, tip] = await Promise.all([
    node.ask(askCoins(intent.from)),
    node.ask(askFeeRates),
    node.ask(askTip),
  ]);
  if (!coins.ok) return coins;
  if (!rates.ok) return rates;
  if (!tip.ok) return tip;
  const parent = await parentOf(node, intent, { replaced, coins: coins.value, most: mostCoinsOf(payment.value.own) });
  if (!parent.ok) return parent;
  const kept = replaced === null ? (parent.value?.coins ?? []) : await keptCoins(witnesses, replaced, payment.value);
  const isKept = new Set(kept.map(nameOf));
  if (replaced === null && kept.some((coin) => taken.has(nameOf(coin)))) return refused({ kind: 'busy' });
  const others = coins.value.filter((coin) => !isKept.has(nameOf(coin)));
  const hasArrived = ({ block }: UnspentCoin) =>
    block !== null && depthOf(block, tip.value, chain).confirmations >= chain.confirmations;
  const free = others.filter((coin) => hasArrived(coin) && !taken.has(nameOf(coin)));
  const bid: Bid = {
    // Who pays for somebody else is in a hurry.
    rate: rateTiers(rates.value)[parent.value === null ? speed : 'fast'],
    replacedFee: replaced === null ? null : BigInt(replaced.maxFee),
    parent: parent.value,
  };
  const claim = {
    coins: replaced === null ? coins.value : others,
    own: payment.value.own,
    chain,
    tip: tip.value,
    isOrderFree: kept.length === 0,
  };
  const proven = await chooseProven(witnesses, claim, (unproven) =>
    choose(payment.value, { kept, free: free.filter((coin) => !unproven.has(nameOf(coin))), bid }),
  );
  if (!proven.ok) return proven;
  if (proven.value === null) return refused(shortOf(payment.value, { coins: [...kept, ...others], bid }));
  const { terms, parents } = proven.value;
  const fee = feeOf(payment.value, terms);
  if (fee > BigInt(intent.maxFee)) {
    return refused(permanent('FEE_CAP_EXCEEDED', `it costs ${fee} satoshi, ${intent.maxFee} are allowed`));
  }
  return accepted({ terms, parents, coins: terms.coins.map(nameOf), maxFee: amountOf(fee) });
}

/** An intent as a payment. Refuses an amount that no node relays. */
export function payable(intent: OnChainIntent): Result<Payment, PermanentFault> {
  const payment = intent.kind === 'transfer' ? paymentOf(intent) : null;
  if (payment === null)
    throw new Error('a stored intent is in canonical form, and Bitcoin carries out transfers alone');
  const least = payment.to === null ? 0n : dustOf(payment.to.script);
  if (payment.to === null || payment.to.amount >= least) return accepted(payment);
  const detail = `nodes relay no less than ${least} satoshi to this kind of address`;
  return refused(permanent('RECIPIENT_REFUSED', detail));
}

interface Bid {
  /** Thousandths of a satoshi per virtual byte. */
  readonly rate: bigint;
  readonly replacedFee: bigint | null;
  /** What the fee is for besides. */
  readonly parent: Parent | null;
}

/** A transaction that waits to be mined, and what of it the wallet can spend. */
interface Parent {
  readonly fee: bigint;
  readonly virtualSize: bigint;
  readonly coins: readonly Coin[];
}

interface ParentQuestion {
  readonly replaced: Attempt | null;
  /** Of the wallet, those that wait too. */
  readonly coins: readonly UnspentCoin[];
  /** That can be spent at once. */
  readonly most: number;
}

/** What a child is to pay for; null where it does not pay for one, or need not any more. */
async function parentOf(
  node: RpcNode,
  intent: OnChainIntent,
  { replaced, coins, most }: ParentQuestion,
): Promise<Result<Parent | null, PermanentFault | Trouble>> {
  const hash = intent.kind === 'transfer' ? intent.paysFor : undefined;
  if (hash === undefined) return accepted(null);
  const told = await node.ask(askTransaction(hash));
  if (!told.ok) return told;
  const own = coins.flatMap(({ block, ...coin }) => (block === null && coin.txid === hash ? [coin] : []));
  if (told.value?.block === null && (own.length > 0 || replaced !== null)) {
    const { fee, weight } = told.value;
    return accepted({ fee, virtualSize: virtualBytes(weight), coins: own.slice(0, most) });
  }
  if (replaced !== null) return accepted(null);
  return refused(
    permanent('PARENT_NOT_WAITING', 'the transaction to pay for is in a block, gone, or pays the wallet nothing'),
  );
}

/** What a transaction of so many coins has to pay: for its parent what that one lacks, but never less than for itself. */
function feeFor({ own, to }: Payment, { rate, replacedFee, parent }: Bid, coins: number, hasChange: boolean): bigint {
  const size = virtualSizeOf(own, coins, [...(to === null ? [] : [to.script]), ...(hasChange ? [own] : [])]);
  const both = parent === null ? 0n : feeAt(rate, size + parent.virtualSize) - parent.fee;
  return larger(larger(feeAt(rate, size), both), replacedFee === null ? 0n : raisedFee(replacedFee, size));
}

export interface Choice {
  readonly kept: readonly Coin[];
  readonly free: readonly Coin[];
  readonly bid: Bid;
}

/**
 * The largest coins first: as few as it takes, since each costs a signature and some 58 bytes. What is left over comes back, or goes to the
 * miner where it is less than nodes relay. Null when they do not suffice.
 */
export function choose(payment: Payment, { kept, free, bid }: Choice): Terms | null {
  const largestFirst = free.toSorted((a, b) => (a.amount < b.amount ? 1 : a.amount > b.amount ? -1 : 0));
  const coins = [...kept];
  for (;;) {
    const terms = coins.length === 0 ? null : settled(payment, coins, bid);
    if (terms !== null) return terms;
    const next = largestFirst.shift();
    if (next === undefined || coins.length === mostCoinsOf(payment.own)) return null;
    const { txid, vout, amount } = next;
    coins.push({ txid, vout, amount });
  }
}

/** Null when these coins are too little. */
function settled(payment: Payment, coins: readonly Coin[], bid: Bid): Terms | null {
  const { own, to } = payment;
  const left = totalOf(coins) - (to?.amount ?? 0n);
  const change = left - feeFor(payment, bid, coins.length, true);
  if (change >= dustOf(own)) return { coins, change };
  // There has to be an output.
  const isEnough = to !== null && left >= feeFor(payment, bid, coins.length, false);
  return isEnough ? { coins, change: 0n } : null;
}

/** Why no coins were found: there are too few, or they can not be spent yet. */
function shortOf(
  payment: Payment,
  { coins, bid }: { readonly coins: readonly (Coin | UnspentCoin)[]; readonly bid: Bid },
): PermanentFault | BusyFault {
  if (choose(payment, { kept: [], free: coins, bid }) !== null) return { kind: 'busy' };
  const needed = (payment.to?.amount ?? 0n) + feeFor(payment, bid, 1, false);
  return permanent(
    'INSUFFICIENT_FUNDS',
    `the wallet holds ${totalOf(coins)} of ${needed} satoshi, or in too many coins`,
  );
}
