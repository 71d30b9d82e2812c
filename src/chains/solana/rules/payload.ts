import type { Bid } from '#chains/bid.ts';
import { memoised } from '#chains/memoised-inspection.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import { isPublicKey, parseMint, parseRecipient, bytesOf } from '#chains/solana/rules/address.ts';
import { clusterOf } from '#chains/solana/rules/cluster.ts';
import { bytesOfPayload } from '#chains/payload-hex.ts';
import { memoFault } from '#chains/solana/rules/memo.ts';
import { offchainMessage } from '#chains/solana/rules/message.ts';
import type { DurableNonce } from '#chains/solana/rules/payment-terms.ts';
import { costOf, nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { messageBytes, termsIn } from '#chains/solana/rules/transaction.ts';
import { parseAmount, UINT64_MAX, unitsOf } from '#domain/asset/amount.ts';
import type { MessageIntent, OnChainIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { equalBytes } from '@noble/curves/utils.js';
import type { Address } from '@solana/kit';

export type SolanaPayloadFault =
  | 'unsupported-kind'
  | 'intent-not-canonical'
  | 'malformed'
  | 'too-long'
  | 'wrong-transfer'
  | 'units-out-of-range'
  | 'fee-above-cap'
  | 'token-fee-above-approved'
  | 'wrong-message';

/** The proven content of the bytes. */
export interface SolanaPayload {
  readonly kind: 'transaction';
  /**
   * 32 bytes, SHA-256 of the message: it identifies the message. Ed25519 signs the message itself.
   */
  readonly signingDigest: Uint8Array;
  readonly signedMessages: readonly [Uint8Array];
  /** Lamports. */
  readonly maxFee: bigint;
  /** Its nonce is the value of the durable nonce, or the address of the account that is opened. */
  readonly bid: Bid;
}

/** A message that was proven to be the one of its intent. */
export interface SolanaMessage {
  readonly kind: 'message';
  readonly signingDigest: Uint8Array;
  readonly signedMessages: readonly [Uint8Array];
}

/**
 * The space in a packet of the network (1,232 bytes) beside one signature and the signature count.
 */
const MAX_MESSAGE_BYTES = 1_232 - 65;

/** The network's own limit for a transaction. */
const MAX_COMPUTE_UNITS = 1_400_000;

/**
 * Proves that bytes are the one message of a transfer. It reads the terms from the bytes, builds
 * the message again from the intent and those terms, and requires the same bytes. So anything
 * unexpected is not signed.
 *
 * Refuses, in order: `unsupported-kind` (calldata and allowances belong to another family),
 * `intent-not-canonical`, `malformed`, `too-long`, `wrong-transfer`, `units-out-of-range`,
 * `fee-above-cap`, `token-fee-above-approved`.
 */
export const inspectSolanaPayload = memoised(
  (intent: OnChainIntent, payload: string): Result<SolanaPayload, SolanaPayloadFault> => {
    if (intent.kind !== 'transfer') return refused('unsupported-kind');
    const wallet = canonicalWallet(intent);
    if (wallet === null) return refused('intent-not-canonical');
    const bytes = bytesOfPayload(payload);
    if (bytes === null) return refused('malformed');
    if (bytes.length > MAX_MESSAGE_BYTES) return refused('too-long');
    const terms = termsIn(bytes, wallet);
    if (terms === null) return refused('malformed');
    const requested = messageBytes(intent, terms);
    if (requested === null || !equalBytes(requested, bytes)) return refused('wrong-transfer');
    if (terms.unitLimit > MAX_COMPUTE_UNITS) return refused('units-out-of-range');
    const cost = costOf(terms);
    if (cost > BigInt(intent.maxFee)) return refused('fee-above-cap');
    if ((terms.token?.withheld ?? 0n) > BigInt(intent.maxTokenFee ?? 0)) return refused('token-fee-above-approved');
    return accepted({
      kind: 'transaction',
      signingDigest: sha256(bytes),
      signedMessages: [bytes],
      maxFee: cost,
      bid: {
        nonce: usedUpBy(terms.anchor, wallet),
        maxFee: terms.unitPrice,
        maxTip: terms.unitPrice,
        minRisePercent: 100n,
      },
    });
  },
);

/**
 * Proves that bytes are the off-chain message of an intent, whose first byte no transaction has.
 * Refuses, in order: `intent-not-canonical`, `wrong-message`.
 */
export function inspectSolanaMessage(
  intent: MessageIntent,
  payload: string,
): Result<SolanaMessage, SolanaPayloadFault> {
  const requested = offchainMessage(intent);
  if (requested === null) return refused('intent-not-canonical');
  const bytes = bytesOfPayload(payload);
  if (bytes === null || !equalBytes(requested, bytes)) return refused('wrong-message');
  return accepted({ kind: 'message', signingDigest: sha256(bytes), signedMessages: [bytes] });
}

/**
 * Returns the wallet of an intent. An intent may come from a lying coordinator, so every field is
 * checked again, whatever its type claims.
 */
function canonicalWallet(intent: TransferIntent): Address | null {
  const { chain, from, to, tokenAddress, amount, maxFee, paysFor, memo, recipientIsToken, maxTokenFee } = intent;
  const present = [memo, maxTokenFee].filter((text) => text !== undefined);
  const optional = [...(tokenAddress === null ? [] : [tokenAddress]), ...present];
  const texts: readonly unknown[] = [chain, from, to, amount, maxFee, ...optional];
  if (texts.some((text) => typeof text !== 'string') || clusterOf(chain) === null || paysFor !== undefined) return null;
  // A mint belongs to the token program, so it is never paid.
  if (recipientIsToken !== undefined) return null;
  if ((memo !== undefined && memoFault(memo) !== null) || !isAcknowledged(intent)) return null;
  if (!isTokenFee(intent)) return null;
  const units = parseAmount(amount, UINT64_MAX);
  const isWhole = units !== null && parseAmount(maxFee, UINT64_MAX) !== null;
  const isNamed = tokenAddress === null || parseMint(tokenAddress).ok;
  return isWhole && isNamed && isPublicKey(from) && unitsOf(units) >= 0n ? from : null;
}

/** Reports whether the fee of a token is absent, or belongs to a payment of a token. */
function isTokenFee({ tokenAddress, maxTokenFee }: TransferIntent): boolean {
  if (maxTokenFee === undefined) return true;
  return tokenAddress !== null && maxTokenFee !== '0' && parseAmount(maxTokenFee, UINT64_MAX) !== null;
}

/**
 * Reports whether a recipient has a key, or signers were shown that it may have none. Returns false
 * when the intent claims that for a wallet with a key.
 */
function isAcknowledged({ to, recipientMayHaveNoKey }: TransferIntent): boolean {
  const recipient = parseRecipient(to);
  return recipient.ok && recipientMayHaveNoKey === (recipient.value.mayHaveNoKey ? true : undefined);
}

/**
 * Returns the resource that only one transaction can ever use: the value of a nonce account, or the
 * account itself when it is opened. The value alone names no account: it derives from the last
 * blockhash, so all accounts that are advanced in one slot hold the same value, and two payments at
 * two of them would both be executed.
 */
function usedUpBy(anchor: DurableNonce, wallet: Address): bigint {
  const account = bytesOf(nonceAccountOf(wallet, anchor.nonceSlot));
  if (anchor.kind === 'opening') return BigInt(`0x${bytesToHex(account)}`);
  if (!isPublicKey(anchor.value)) throw new Error('a lifetime is not 32 bytes in base58');
  return BigInt(`0x${bytesToHex(sha256(concatBytes(account, bytesOf(anchor.value))))}`);
}
