import { feeAt, maxBigint } from '#chains/bitcoin/rules/fee-rate.ts';
import type { Replaced } from '#chains/bitcoin/client/replacement.ts';
import { replacementFee } from '#chains/bitcoin/client/replacement.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment, Shape } from '#chains/bitcoin/rules/transaction.ts';
import { sizeOfShape } from '#chains/bitcoin/rules/transaction.ts';

/** What a transaction offers for its inclusion. */
export interface FeeBid {
  /** Thousandths of a satoshi per virtual byte. */
  readonly rate: bigint;
  /** The attempt that it replaces; null for a first attempt. */
  readonly replaced: Replaced | null;
  /** The parent transaction that the fee also pays for; null without one. */
  readonly parent: Parent | null;
}

/** A transaction in the mempool, and its outputs that the wallet can spend. */
export interface Parent {
  readonly fee: bigint;
  readonly virtualSize: bigint;
  readonly utxos: readonly Utxo[];
}

/**
 * Returns the fee of a transaction of this shape. It covers what the parent lacks, but is never
 * less than its own fee.
 */
export function feeFor(payment: Payment, { rate, replaced, parent }: FeeBid, shape: Shape): bigint {
  const size = sizeOfShape(payment, shape);
  const both = parent === null ? 0n : feeAt(rate, size + parent.virtualSize) - parent.fee;
  return maxBigint(maxBigint(feeAt(rate, size), both), replaced === null ? 0n : replacementFee(replaced, size));
}
