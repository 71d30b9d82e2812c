import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { feeCapOf } from '#domain/policy/optional-rules.ts';
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
 * Returns the largest fee that a transaction can be approved with, in the chain's smallest unit:
 * the smaller one of the chain's cap for this size and the policy's.
 *
 * @param virtualSize estimate at creation, in virtual bytes; null when unknown
 */
export function largestFeeFor(chain: Chain, rules: OptionalRules, virtualSize: bigint | null): Amount {
  const ofChain = feeCapFor(chain, virtualSize);
  const ofPolicy = feeCapOf(rules, chain.caip2);
  return ofPolicy !== null && unitsOf(ofPolicy) < unitsOf(ofChain) ? ofPolicy : ofChain;
}

/**
 * Ours: the margin of a suggested largest fee. It leaves room for a price that rises while signers
 * approve, and for two speed-ups on Bitcoin (1.5 x 1.5), one on Solana (2) and nine on EVM chains
 * (each an eighth more).
 */
const MARGIN = 3n;

/**
 * Returns the largest fee to approve for a transaction that costs `maxFee` at most now: three times
 * as much, and no more than `largest`.
 */
export function suggestedMaxFee(maxFee: Amount, largest: Amount): Amount {
  const suggested = unitsOf(maxFee) * MARGIN;
  return suggested < unitsOf(largest) ? amountOf(suggested) : largest;
}

/**
 * Reports whether a transaction waits for a lower price: nothing of it is signed, and only its fee
 * cap prevents it. A price falls again, while a new transaction would need new approvals. It waits
 * as long as co-signers would sign it.
 */
export function waitsForPrice(transaction: Pick<Transaction, 'attempts'>, reason: FailureReason): boolean {
  return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length === 0;
}
