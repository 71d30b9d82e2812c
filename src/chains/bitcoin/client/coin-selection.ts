import type { FeeBid } from '#chains/bitcoin/client/fee-bid.ts';
import { feeFor } from '#chains/bitcoin/client/fee-bid.ts';
import { inputWeightOf, maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import { feeAt } from '#chains/bitcoin/rules/fee-rate.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { dustOf, outpointText, totalOf, virtualBytes, virtualSizeOf } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';

/** What coins are chosen from. */
export interface Choice {
  /** Spent in any case, in this order. */
  readonly kept: readonly Utxo[];
  readonly free: readonly Utxo[];
  readonly bid: FeeBid;
}

/**
 * The coins that carry a payment out: those that are kept alone where they suffice, else with the smallest coin that suffices,
 * else a set that leaves no change, else the largest ones first. So a small payment leaves the large coins to others. Coins that
 * cost more than they are worth are left alone. What is left over comes back, or goes to the miner where it is less than RPC
 * nodes relay. Null when the coins do not suffice, or not as many as one transaction can spend. The order of `free` does not
 * matter.
 */
export function selectUtxos(payment: Payment, choice: Choice): SpendPlan | null {
  const free = choice.free.filter((utxo) => isEconomical(payment.own, utxo, choice.bid.rate)).toSorted(byAmount);
  const sorted = { ...choice, free };
  const alone = choice.kept.length === 0 ? null : settled(payment, choice.kept, choice.bid);
  return alone ?? smallest(payment, sorted) ?? withoutChange(payment, sorted) ?? largestFirst(payment, sorted);
}

/**
 * The smallest coins that are worth more than their inputs, as many as are wanted and one transaction can spend; null where there
 * are not two to join.
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

/** Reports whether a coin is worth more than the fee of its input. @param own script of the wallet */
export function isEconomical(own: Uint8Array, { amount }: Utxo, rate: bigint): boolean {
  return amount > feeAt(rate, virtualBytes(inputWeightOf(own)));
}

/** Ascending. Coins of one amount by their names, so that the same coins always lead to the same bytes. */
function byAmount(a: Utxo, b: Utxo): number {
  if (a.amount !== b.amount) return a.amount < b.amount ? -1 : 1;
  return outpointText(a) < outpointText(b) ? -1 : 1;
}

/** One coin more, and no larger one than it takes. */
function smallest(payment: Payment, { kept, free, bid }: Choice): SpendPlan | null {
  if (kept.length >= maxInputsOf(payment.own)) return null;
  for (const utxo of free) {
    const terms = settled(payment, [...kept, plain(utxo)], bid);
    if (terms !== null) return terms;
  }
  return null;
}

/** Ours: some milliseconds. What a longer search would find saves a satoshi or two. */
const MAX_TRIES = 10_000;

/**
 * Branch and bound: the set of coins that pays the least without change, or null where the search finds none. A replacement is
 * not searched for: its fee depends on the attempt before, and it keeps its coins.
 */
function withoutChange(payment: Payment, { kept, free, bid }: Choice): SpendPlan | null {
  const { own, to } = payment;
  if (to === null || kept.length > 0 || bid.replaced !== null || bid.parent !== null) return null;
  const utxos = free.toReversed();
  // What a coin adds once its input is paid for. Its rounding does not matter: `settled` works the fee out exactly.
  const value = utxos.map(({ amount }) => amount - (bid.rate * inputWeightOf(own)) / 4000n);
  const rest = sumsFrom(value);
  // Less the one byte by which the size may have been rounded up.
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
    // Another coin of the same worth leads to the same sums.
    while (next < value.length && value[next] === value[last]) next += 1;
  }
  return best;
}

/** At each place the sum of the numbers from there on. */
function sumsFrom(numbers: readonly bigint[]): readonly bigint[] {
  const sums = [0n];
  for (const number of numbers.toReversed()) sums.push((sums.at(-1) ?? 0n) + number);
  return sums.toReversed();
}

function utxosAt(utxos: readonly Utxo[], positions: readonly number[]): readonly Utxo[] {
  return positions.flatMap((position) => utxos.slice(position, position + 1).map(plain));
}

/** Of two sets without change the one that spends less; both pay the same amount, so it leaves less to the miner. */
function cheaper(best: SpendPlan | null, found: SpendPlan | null): SpendPlan | null {
  if (found === null || found.change > 0n) return best;
  return best === null || totalOf(found.utxos) < totalOf(best.utxos) ? found : best;
}

/** As few coins as it takes, since each costs a signature and some 58 bytes. */
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

/** Null when these coins are too little. */
function settled(payment: Payment, utxos: readonly Utxo[], bid: FeeBid): SpendPlan | null {
  const { own, to } = payment;
  const left = totalOf(utxos) - (to?.amount ?? 0n);
  const change = left - feeFor(payment, bid, { utxos: utxos.length, hasChange: true });
  if (change >= dustOf(own)) return { utxos, change };
  // There has to be an output.
  const isEnough = to !== null && left >= feeFor(payment, bid, { utxos: utxos.length, hasChange: false });
  return isEnough ? { utxos, change: 0n } : null;
}
