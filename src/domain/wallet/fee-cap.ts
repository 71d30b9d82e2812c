import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { FailureReason } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { signedAttempts } from '#domain/transaction/transaction.ts';

/**
 * In satoshi, of a chain that has a largest fee rate: a transaction of few coins may pay so much, whatever its size. Ours: some
 * 1,000 for each virtual byte of a payment with one coin, which leaves room for a coin more at signing, for the parent that it
 * pays for, and for a replacement.
 */
const SMALL_TRANSACTION_CAP = 150_000n;

/**
 * The most that one transaction may pay for its inclusion, in the chain's smallest unit. Where the chain has a largest fee rate
 * it grows with the size, up to the cap of the chain: 50 coins at an ordinary rate cost more than one coin at an absurd one.
 *
 * @param virtualSize estimated when the transaction is created, in virtual bytes; null where it is not known
 */
export function feeCapFor({ name, maxFee, maxFeeRate }: Chain, virtualSize: bigint | null): Amount {
  const cap = parseAmount(maxFee);
  if (cap === null) throw new Error(`The chain ${name} has no valid maxFee.`);
  if (maxFeeRate === undefined) return cap;
  const sized = capBySize(BigInt(maxFeeRate), virtualSize ?? 0n);
  return sized < unitsOf(cap) ? amountOf(sized) : cap;
}

/** @param rate whole satoshi per virtual byte */
export function capBySize(rate: bigint, virtualSize: bigint): bigint {
  const bySize = rate * virtualSize;
  return bySize > SMALL_TRANSACTION_CAP ? bySize : SMALL_TRANSACTION_CAP;
}

/**
 * Reports whether a transaction waits for a lower price: nothing of it is signed, and nothing but its fee cap is in the way. A
 * price falls again; approvals would have to be asked for again. It waits as long as co-signers sign it at all.
 */
export function waitsForPrice(transaction: Pick<Transaction, 'attempts'>, reason: FailureReason): boolean {
  return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length === 0;
}
