import { hexToBytes } from '@noble/hashes/utils.js';
import { feeAt, maxBigint, RELAY_RATE } from '#chains/bitcoin/rules/fee-rate.ts';
import { virtualSizeIn } from '#chains/bitcoin/rules/transaction.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/** An attempt that another one is to take the place of. */
export interface Replaced {
  readonly fee: bigint;
  readonly virtualSize: bigint;
  /** What an RPC node wanted when it refused the attempt. */
  readonly demand: ReplacementMinimum;
}

/** The least that an RPC node said it would take. */
export interface ReplacementMinimum {
  /** Fees of everything that a replacement removes from the mempool, in satoshi. */
  readonly conflictingFees: bigint;
  /** For the relay of a transaction as large as the one that was refused, in satoshi. */
  readonly relayFee: bigint;
  /** Of what is replaced: the new one has to have a higher one. Thousandths of a satoshi per virtual byte. */
  readonly conflictingRate: bigint;
  /** The whole fee of a transaction as large as the one that was refused, in satoshi. */
  readonly minimumFee: bigint;
}

export function replacedBy({ payload, maxFee, sent }: Pick<Attempt, 'payload' | 'maxFee' | 'sent'>): Replaced {
  const fee = BigInt(maxFee);
  return {
    fee,
    virtualSize: virtualSizeIn(hexToBytes(payload.slice(2))),
    demand: replacementMinimum(sent?.answer ?? '', fee),
  };
}

/**
 * The least fee of a replacement: a higher rate than before (Bitcoin Core 24 and later, beside BIP-125), the old fee with what its
 * relay costs (BIP-125, rules 3 and 4), what an RPC node demanded, and half as much again as before, since a person who sends it
 * again wants it to be taken.
 */
export function replacementFee({ fee, virtualSize, demand }: Replaced, size: bigint): bigint {
  // Both rounded up, so that the node's own rounding finds it higher.
  const oldRate = maxBigint((fee * 1000n + virtualSize - 1n) / virtualSize, demand.conflictingRate);
  const relay = maxBigint(feeAt(RELAY_RATE, size), scaled(demand.relayFee, virtualSize, size));
  const floors = [
    feeAt(oldRate + 1n, size),
    maxBigint(fee, demand.conflictingFees) + relay,
    scaled(demand.minimumFee, virtualSize, size),
    fee + fee / 2n,
  ];
  return floors.reduce(maxBigint, 0n);
}

/** A fee for one size as a fee for another one, rounded up. */
function scaled(fee: bigint, from: bigint, to: bigint): bigint {
  return (fee * to + from - 1n) / from;
}

/** Bitcoin Core 0.13 to 30, `policy/rbf.cpp` and `validation.cpp`. Amounts there are decimals of a bitcoin, or satoshi. */
const CONFLICTING_FEES = /less fees than conflicting txs; [0-9.]+ < ([0-9]{1,8}\.[0-9]{8})\b/;
const RELAY_FEE = /not enough additional fees to relay; (-?[0-9]{1,8}\.[0-9]{8}) < ([0-9]{1,8}\.[0-9]{8})\b/;
const CONFLICTING_RATE = /new feerate [0-9.]+(?: BTC\/kv?B)? <= old feerate ([0-9]{1,8}\.[0-9]{8})\b/;
const MINIMUM_FEE = /min(?:imum)? (?:relay )?fee not met, [0-9]+ < ([0-9]{1,16})\b/;

/**
 * The numbers of a refusal; all 0 where it has none that are known. A false one is bounded: above twice the fee a person has to
 * ask for the replacement, and above the fee of the intent there is none.
 *
 * @param fee of what was refused
 */
export function replacementMinimum(answer: string, fee: bigint): ReplacementMinimum {
  const [, conflicting] = CONFLICTING_FEES.exec(answer) ?? [];
  const [, additional, relay] = RELAY_FEE.exec(answer) ?? [];
  const [, rate] = CONFLICTING_RATE.exec(answer) ?? [];
  const [, minimum] = MINIMUM_FEE.exec(answer) ?? [];
  return {
    // What is left of the fee after all that it replaces is paid for.
    conflictingFees: additional === undefined ? satoshiIn(conflicting) : maxBigint(fee - satoshiIn(additional), 0n),
    relayFee: satoshiIn(relay),
    // A bitcoin for a thousand bytes is as many satoshi for a thousand bytes, which is thousandths for one.
    conflictingRate: satoshiIn(rate),
    minimumFee: minimum === undefined ? 0n : BigInt(minimum),
  };
}

/** Of a decimal number with eight places, exactly. */
function satoshiIn(bitcoin: string | undefined): bigint {
  return bitcoin === undefined ? 0n : BigInt(bitcoin.replace('.', ''));
}
