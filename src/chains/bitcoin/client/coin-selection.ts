import type { FeeBid } from '#chains/bitcoin/client/fee-bid.ts';
import { feeFor } from '#chains/bitcoin/client/fee-bid.ts';
import { inputWeightOf, maxInputsOf, scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import { feeAt } from '#chains/bitcoin/rules/fee-rate.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { dustOf, outpointText, totalOf, virtualBytes, virtualSizeOf } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';

/** The UTXOs to select from. */
export interface Choice {
  /** UTXOs that are always spent, in this order. */
  readonly kept: readonly Utxo[];
  readonly free: readonly Utxo[];
  readonly bid: FeeBid;
}

/**
 * The maximum amount of a UTXO that may carry more than satoshi. Wallets for ordinals and runes put
 * each of them into an output of 330 to 10,000 satoshi (the default of `ord`). Ours.
 */
const MAX_CARRIER = 10_000n;

/**
 * Reports whether a UTXO may carry an inscription, a rune or an ordinal, whose owner loses it when
 * the UTXO is spent. No indexer is read: the amount decides, and the type of the address, because
 * wallets send them to P2TR.
 *
 * @param own script of the wallet
 */
export function mayCarryMore(own: Uint8Array, { amount }: Pick<Utxo, 'amount'>): boolean {
  return scriptTypeOf(own)?.type === 'p2tr' && amount <= MAX_CARRIER;
}

/**
 * Returns the UTXOs that pay a transaction: the kept ones alone when they suffice, else with the
 * smallest UTXO that suffices, else a set without change, else the largest ones first. A small
 * payment thus leaves the large UTXOs to others. UTXOs that may carry more than satoshi are spent
 * when the others do not suffice, and then as few of them as possible. UTXOs whose input costs more
 * than their amount are not spent. The remainder is change, or goes to the miner when it is less
 * than RPC nodes relay. Returns null when the UTXOs do not suffice, or not as many as one
 * transaction can spend. The order of `free` does not matter.
 */
export function selectUtxos(payment: Payment, choice: Choice): SpendPlan | null {
  const { own } = payment;
  const free = choice.free.filter((utxo) => isEconomical(own, utxo, choice.bid.rate)).toSorted(byAmount);
  const larger = { ...choice, free: free.filter((utxo) => !mayCarryMore(own, utxo)) };
  const alone = choice.kept.length === 0 ? null : settled(payment, choice.kept, choice.bid);
  const ofLarger =
    alone ?? smallest(payment, larger) ?? withoutChange(payment, larger) ?? largestFirst(payment, larger);
  // The larger ones come first here, so no further UTXO is spent than the payment needs.
  return ofLarger ?? smallest(payment, { ...choice, free }) ?? largestFirst(payment, { ...choice, free });
}

/**
 * Returns the smallest UTXOs that are larger than the fee of their inputs, up to the requested
 * count and the maximum of one transaction; null with fewer than two.
 *
 * @param own script of the wallet
 */
export function smallestUtxos(
  own: Uint8Array,
  free: readonly Utxo[],
  { rate, count }: { readonly rate: bigint; readonly count: number },
): readonly Utxo[] | null {
  const worthy = free.filter((utxo) => isEconomical(own, utxo, rate)).toSorted(byAmount);
  return worthy.length < 2 ? null : worthy.slice(0, Math.min(count, maxInputsOf(own))).map(plain);
}

/**
 * Reports whether a UTXO is larger than the fee of its input.
 *
 * @param own script of the wallet
 */
export function isEconomical(own: Uint8Array, { amount }: Utxo, rate: bigint): boolean {
  return amount > feeAt(rate, virtualBytes(inputWeightOf(own)));
}

/**
 * Orders by amount, ascending. UTXOs of one amount are ordered by their names, so that the same
 * UTXOs always lead to the same bytes.
 */
function byAmount(a: Utxo, b: Utxo): number {
  if (a.amount !== b.amount) return a.amount < b.amount ? -1 : 1;
  return outpointText(a) < outpointText(b) ? -1 : 1;
}

/** Adds one UTXO, the smallest that suffices. */
function smallest(payment: Payment, { kept, free, bid }: Choice): SpendPlan | null {
  if (kept.length >= maxInputsOf(payment.own)) return null;
  for (const utxo of free) {
    const terms = settled(payment, [...kept, plain(utxo)], bid);
    if (terms !== null) return terms;
  }
  return null;
}

/** Ours: some milliseconds. A longer search would save only a satoshi or two. */
const MAX_TRIES = 10_000;

/**
 * Returns the set of UTXOs that pays the least without change by branch and bound, or null when the
 * search finds none. It does not search for a replacement, whose fee depends on the previous
 * attempt and which keeps its UTXOs.
 */
function withoutChange(payment: Payment, { kept, free, bid }: Choice): SpendPlan | null {
  const { own, to } = payment;
  if (to === null || kept.length > 0 || bid.replaced !== null || bid.parent !== null) return null;
  const utxos = free.toReversed();
  // What a UTXO adds after its input is paid for. Its rounding does not matter, because `settled`
  // computes the exact fee.
  const value = utxos.map(({ amount }) => amount - (bid.rate * inputWeightOf(own)) / 4000n);
  const rest = sumsFrom(value);
  // Minus the one byte by which the size may have been rounded up.
  const target = to.amount + feeAt(bid.rate, virtualSizeOf(own, 0, [to.script]) - 1n);
  const limit = target + feeAt(bid.rate, virtualSizeOf(own, 0, [own])) + dustOf(own);
  const most = maxInputsOf(own);
  const taken: number[] = [];
  let [best, sum, next]: [SpendPlan | null, bigint, number] = [null, 0n, 0];
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const isFull = sum > limit || taken.length > most || sum + (rest[next] ?? 0n) < target;
    if (!isFull && sum >= target) best = cheaper(best, settled(payment, utxosAt(utxos, taken), bid));
    if (!isFull && sum < target) {
      taken.push(next);
      sum += value[next] ?? 0n;
      next += 1;
      continue;
    }
    const last = taken.pop();
    if (last === undefined) break;
    sum -= value[last] ?? 0n;
    next = last + 1;
    // Another UTXO of the same value leads to the same sums.
    while (next < value.length && value[next] === value[last]) next += 1;
  }
  return best;
}

/** Returns, for each position, the sum of the numbers from there on. */
function sumsFrom(numbers: readonly bigint[]): readonly bigint[] {
  const sums = [0n];
  for (const number of numbers.toReversed()) sums.push((sums.at(-1) ?? 0n) + number);
  return sums.toReversed();
}

function utxosAt(utxos: readonly Utxo[], positions: readonly number[]): readonly Utxo[] {
  return positions.flatMap((position) => utxos.slice(position, position + 1).map(plain));
}

/**
 * Returns the set without change that spends less. Both pay the same amount, so it leaves less to
 * the miner.
 */
function cheaper(best: SpendPlan | null, found: SpendPlan | null): SpendPlan | null {
  if (found === null || found.change > 0n) return best;
  return best === null || totalOf(found.utxos) < totalOf(best.utxos) ? found : best;
}

/** Uses as few UTXOs as possible, since each costs a signature and about 58 bytes. */
function largestFirst(payment: Payment, { kept, free, bid }: Choice): SpendPlan | null {
  const utxos = [...kept];
  for (const utxo of free.toReversed()) {
    if (utxos.length >= maxInputsOf(payment.own)) return null;
    utxos.push(plain(utxo));
    const terms = settled(payment, utxos, bid);
    if (terms !== null) return terms;
  }
  return null;
}

function plain({ txid, vout, amount }: Utxo): Utxo {
  return { txid, vout, amount };
}

/** Returns null when these UTXOs do not suffice. */
function settled(payment: Payment, utxos: readonly Utxo[], bid: FeeBid): SpendPlan | null {
  const { own, to } = payment;
  const left = totalOf(utxos) - (to?.amount ?? 0n);
  const change = left - feeFor(payment, bid, { utxos: utxos.length, hasChange: true });
  if (change >= dustOf(own)) return { utxos, change };
  // A transaction needs an output.
  const isEnough = to !== null && left >= feeFor(payment, bid, { utxos: utxos.length, hasChange: false });
  return isEnough ? { utxos, change: 0n } : null;
}
