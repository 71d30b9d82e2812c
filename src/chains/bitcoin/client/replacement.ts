import { hexToBytes } from '@noble/hashes/utils.js';
import { feeAt, maxBigint, RELAY_RATE } from '#chains/bitcoin/rules/fee-rate.ts';
import { virtualSizeIn } from '#chains/bitcoin/rules/transaction.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

/** An attempt that another one replaces. */
export interface Replaced {
  readonly fee: bigint;
  readonly virtualSize: bigint;
  /** The minimum that an RPC node required when it refused the attempt. */
  readonly demand: ReplacementMinimum;
}

/** The minimum that an RPC node reported. */
export interface ReplacementMinimum {
  /** Fees of all transactions that a replacement removes from the mempool, in satoshi. */
  readonly conflictingFees: bigint;
  /** For the relay of a transaction of the refused one's size, in satoshi. */
  readonly relayFee: bigint;
  /**
   * The rate of the replaced transactions, which the new one must exceed. Thousandths of a satoshi
   * per virtual byte.
   */
  readonly conflictingRate: bigint;
  /** The whole fee of a transaction of the refused one's size, in satoshi. */
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
 * Returns the minimum fee of a replacement, the highest of: a higher rate than before (Bitcoin Core
 * 24 and later, beside BIP-125), the old fee plus its relay fee (BIP-125, rules 3 and 4), the
 * demand of an RPC node, and one and a half times the old fee, since a user who replaces a
 * transaction needs it to be accepted.
 */
export function replacementFee({ fee, virtualSize, demand }: Replaced, size: bigint): bigint {
  // Both are rounded up, so that the RPC node's own rounding finds the new rate higher.
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

/** Scales a fee from one size to another, rounded up. */
function scaled(fee: bigint, from: bigint, to: bigint): bigint {
  return (fee * to + from - 1n) / from;
}

/**
 * Messages of Bitcoin Core 0.13 to 30, `policy/rbf.cpp` and `validation.cpp`. Their amounts are
 * decimals of a bitcoin, or satoshi.
 */
const CONFLICTING_FEES = /less fees than conflicting txs; [0-9.]+ < ([0-9]{1,8}\.[0-9]{8})\b/;
const RELAY_FEE = /not enough additional fees to relay; (-?[0-9]{1,8}\.[0-9]{8}) < ([0-9]{1,8}\.[0-9]{8})\b/;
const CONFLICTING_RATE = /new feerate [0-9.]+(?: BTC\/kv?B)? <= old feerate ([0-9]{1,8}\.[0-9]{8})\b/;
const MINIMUM_FEE = /min(?:imum)? (?:relay )?fee not met, [0-9]+ < ([0-9]{1,16})\b/;

/**
 * Returns the numbers of a refusal; all 0 when it has none that are known. A false number has a
 * limited effect: above twice the fee a user has to request the replacement, and no replacement
 * exceeds the fee cap of the intent.
 *
 * @param fee of the refused attempt
 */
export function replacementMinimum(answer: string, fee: bigint): ReplacementMinimum {
  const [, conflicting] = CONFLICTING_FEES.exec(answer) ?? [];
  const [, additional, relay] = RELAY_FEE.exec(answer) ?? [];
  const [, rate] = CONFLICTING_RATE.exec(answer) ?? [];
  const [, minimum] = MINIMUM_FEE.exec(answer) ?? [];
  return {
    // The rest of the fee after everything that it replaces is paid for.
    conflictingFees: additional === undefined ? satoshiIn(conflicting) : maxBigint(fee - satoshiIn(additional), 0n),
    relayFee: satoshiIn(relay),
    // Bitcoin per thousand bytes becomes satoshi per thousand bytes, which are thousandths per
    // byte.
    conflictingRate: satoshiIn(rate),
    minimumFee: minimum === undefined ? 0n : BigInt(minimum),
  };
}

/** Converts a decimal number with eight places exactly. */
function satoshiIn(bitcoin: string | undefined): bigint {
  return bitcoin === undefined ? 0n : BigInt(bitcoin.replace('.', ''));
}
