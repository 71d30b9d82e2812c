import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { FailureReason } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { signedAttempts } from '#domain/transaction/transaction.ts';

/**
 * In satoshi, for a chain with a largest fee rate: the cap of a small transaction, whatever its
 * size. Ours: about 1,000 for each virtual byte of a payment with one input. This leaves room for
 * one more input at signing, for the parent that it pays for, and for a replacement.
 */
const SMALL_TRANSACTION_CAP = 150_000n;

/**
 * Returns the most that one transaction may pay for its inclusion, in the chain's smallest unit.
 * With a largest fee rate it grows with the size, up to the cap of the chain: 50 inputs at an
 * ordinary rate cost more than one input at an absurd rate.
 *
 * @param virtualSize estimate at creation, in virtual bytes; null when unknown
 */
export function feeCapFor({ name, maxFee, maxFeeRate }: Chain, virtualSize: bigint | null): Amount {
  const cap = parseAmount(maxFee);
  if (cap === null) throw new Error(`The chain ${name} has no valid maxFee.`);
  if (maxFeeRate === undefined) return cap;
  const sized = capBySize(BigInt(maxFeeRate), virtualSize ?? 0n);
  return sized < unitsOf(cap) ? amountOf(sized) : cap;
}

/**
 * Returns the cap by size.
 *
 * @param rate whole satoshi per virtual byte
 */
export function capBySize(rate: bigint, virtualSize: bigint): bigint {
  const bySize = rate * virtualSize;
  return bySize > SMALL_TRANSACTION_CAP ? bySize : SMALL_TRANSACTION_CAP;
}

/**
 * Reports whether a transaction waits for a lower price: nothing of it is signed, and only its fee
 * cap prevents it. A price falls again, while a new transaction would need new approvals. It waits
 * as long as co-signers would sign it.
 */
export function waitsForPrice(transaction: Pick<Transaction, 'attempts'>, reason: FailureReason): boolean {
  return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length === 0;
}
