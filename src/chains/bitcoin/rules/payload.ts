import type { Bid } from '#chains/bid.ts';
import { isHash, dustOf, MAX_SATOSHI, outpointText, totalOf } from '#chains/bitcoin/rules/utxo.ts';
import { memoised } from '#chains/memoised-inspection.ts';
import { equalBytes } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { scriptTypeOf, maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import { signedMessage } from '#chains/bitcoin/rules/message.ts';
import { bytesOfPayload } from '#chains/payload-hex.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';
import {
  feeOf,
  paymentOf,
  psbtOf,
  sighashesOf,
  readSpendPlan,
  transactionOf,
  sizeOfShape,
} from '#chains/bitcoin/rules/transaction.ts';
import { parseAmount } from '#domain/asset/amount.ts';
import type { MessageIntent, OnChainIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

export type BitcoinPayloadFault =
  | 'unsupported-kind'
  | 'intent-not-canonical'
  | 'malformed'
  | 'too-many-coins'
  | 'wrong-transfer'
  | 'dust'
  | 'fee-above-cap'
  | 'wrong-message';

/** The proven content of the bytes. */
export interface BitcoinPayload {
  readonly kind: 'transaction';
  /** 32 bytes, SHA-256 of the PSBT: it identifies the PSBT. */
  readonly signingDigest: Uint8Array;
  /** One for each UTXO, in their order. */
  readonly signedMessages: readonly Uint8Array[];
  readonly terms: SpendPlan;
  readonly payment: Payment;
  /** The size of the signed transaction (BIP-141). */
  readonly virtualSize: bigint;
  /** Satoshi: the exact fee. */
  readonly maxFee: bigint;
  /** Its nonce is the first UTXO, and its price the whole fee. */
  readonly bid: Bid;
}

/** A message that was proven to be the one of its intent. */
export interface BitcoinMessage {
  readonly kind: 'message';
  readonly signingDigest: Uint8Array;
  readonly signedMessages: readonly [Uint8Array];
}

/**
 * Proves that bytes are the one transaction of a transfer. It reads the terms (which UTXOs, how
 * much change) from the bytes, builds the transaction again from the intent and those terms, and
 * requires the same bytes. The amounts of the UTXOs are claims of the coordinator, and have a
 * separate proof (parent-evidence.ts). A child that pays for its parent spends the parent's UTXO
 * first.
 *
 * Refuses, in order: `unsupported-kind` (calls, allowances and tokens belong to other families),
 * `intent-not-canonical`, `malformed`, `too-many-coins`, `wrong-transfer`, `dust`, `fee-above-cap`.
 */
export const inspectBitcoinPayload = memoised(
  (intent: OnChainIntent, payload: string): Result<BitcoinPayload, BitcoinPayloadFault> => {
    if (intent.kind !== 'transfer') return refused('unsupported-kind');
    const payment = canonicalPayment(intent);
    if (payment === null) return refused('intent-not-canonical');
    const bytes = bytesOfPayload(payload);
    const terms = bytes === null ? null : readSpendPlan(bytes, payment);
    if (bytes === null || terms === null || !isPossible(terms)) return refused('malformed');
    if (terms.utxos.length > maxInputsOf(payment.own)) return refused('too-many-coins');
    const transaction = transactionOf(payment, terms);
    if (!equalBytes(psbtOf(transaction), bytes)) return refused('wrong-transfer');
    const [first] = terms.utxos;
    if (intent.paysFor !== undefined && first?.txid !== intent.paysFor) return refused('wrong-transfer');
    if (isDusty(payment, terms)) return refused('dust');
    const fee = feeOf(payment, terms);
    if (fee < 0n) return refused('malformed');
    if (fee > BigInt(intent.maxFee)) return refused('fee-above-cap');
    return accepted({
      kind: 'transaction',
      signingDigest: sha256(bytes),
      signedMessages: sighashesOf(
        transaction,
        payment.own,
        terms.utxos.map(({ amount }) => amount),
      ),
      terms,
      payment,
      virtualSize: sizeOfShape(payment, { utxos: terms.utxos.length, hasChange: terms.change > 0n }),
      maxFee: fee,
      bid: { nonce: outpointOf(terms), maxFee: fee, maxTip: fee, minRisePercent: 100n },
    });
  },
);

/**
 * Proves that bytes are the virtual transaction of BIP-322 for the message of an intent, which
 * spends an output that exists on no chain. Refuses, in order: `intent-not-canonical`,
 * `wrong-message`.
 */
export function inspectBitcoinMessage(
  intent: MessageIntent,
  payload: string,
): Result<BitcoinMessage, BitcoinPayloadFault> {
  const requested = signedMessage(intent);
  if (requested === null) return refused('intent-not-canonical');
  const bytes = bytesOfPayload(payload);
  if (bytes === null || !equalBytes(requested.bytes, bytes)) return refused('wrong-message');
  return accepted({ kind: 'message', signingDigest: sha256(bytes), signedMessages: [requested.sighash] });
}

/**
 * Returns the payment of an intent. An intent may come from a lying coordinator, so every field is
 * checked again, whatever its type claims.
 */
function canonicalPayment(intent: TransferIntent): Payment | null {
  const { chain, from, to, tokenAddress, amount, maxFee, paysFor, memo } = intent;
  const { recipientMayHaveNoKey, recipientIsToken, maxTokenFee } = intent;
  if ([memo, recipientMayHaveNoKey, recipientIsToken, maxTokenFee].some((field) => field !== undefined)) return null;
  const texts: readonly unknown[] = [chain, from, to, amount, maxFee];
  if (texts.some((text) => typeof text !== 'string') || tokenAddress !== null) return null;
  if (parseAmount(amount, MAX_SATOSHI) === null || parseAmount(maxFee, MAX_SATOSHI) === null) return null;
  const payment = paymentOf(intent);
  if (payment === null || scriptTypeOf(payment.own) === null) return null;
  // A child has no recipient.
  const isOdd = paysFor !== undefined && (payment.to !== null || !isHash(paysFor));
  return isOdd ? null : payment;
}

/** Reports whether each UTXO occurs once and the sums do not exceed the maximum supply. */
function isPossible({ utxos, change }: SpendPlan): boolean {
  const isSum = (units: bigint) => units >= 0n && units <= MAX_SATOSHI;
  const isWhole = ({ amount }: Utxo) => amount > 0n && isSum(amount);
  const names = new Set(utxos.map(outpointText));
  return names.size === utxos.length && utxos.every(isWhole) && isSum(totalOf(utxos)) && isSum(change);
}

function isDusty({ own, to }: Payment, { change }: SpendPlan): boolean {
  return (to !== null && to.amount < dustOf(to.script)) || (change > 0n && change < dustOf(own));
}

/** Returns the hash and the output number of the first UTXO: 36 bytes as one number. */
function outpointOf({ utxos: [first] }: SpendPlan): bigint {
  if (first === undefined) throw new Error('a transaction spends no UTXO');
  return (BigInt(`0x${first.txid}`) << 32n) | BigInt(first.vout);
}
