import type { Amount } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import type { Action, MessageExtras, MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { Spending } from '#domain/wallet/reservation.ts';

export type AddressFault = 'malformed' | 'bad-checksum' | 'zero-address' | 'off-curve' | 'other-network';

/** What inclusion costs now. Only the chain's family knows the other fields. */
export interface Quote {
  /**
   * UTXOs (`<transaction>:<number of the output>`) that no other transaction of the wallet may use
   * meanwhile; absent on chains with accounts.
   */
  readonly utxos?: readonly string[];
  /** The maximum that the bytes can make the wallet pay, in the chain's smallest unit. */
  readonly maxFee: Amount;
  /**
   * The spending per balance, so that no other transaction of the wallet spends the same; absent on
   * chains with UTXOs.
   */
  readonly spending?: Spending;
  /** Bitcoin only, in virtual bytes. */
  readonly virtualSize?: string;
}

/** The refusal of chains whose payments carry no memo. */
export const NO_MEMO = 'The field is supported only for payments on Solana.';

/** A message in the one spelling that is signed, its hash format, and its optional fields. */
export type MessageText = Pick<MessageIntent, 'format' | 'message' | keyof MessageExtras>;

/** What the creator of a message acknowledges. */
export interface MessageOptions {
  /** The `chainId` of typed data that is for another EVM chain, in digits. */
  readonly acceptForeignChainId?: string | undefined;
}

/** An ECDSA signature: two scalars of 32 bytes, big-endian, and the parity of the nonce point. */
export interface EcdsaSignatureParts {
  readonly r: Uint8Array;
  readonly s: Uint8Array;
  readonly yParity: 0 | 1;
}

/**
 * The signature of a chain's key scheme. For Ed25519 and BIP-340 it is the 64 bytes of their
 * standards.
 */
export type ChainSignature = EcdsaSignatureParts | { readonly bytes: Uint8Array };

/** Why a call has no result. It never holds the URL of an RPC node, because those contain keys. */
export interface ChainFault {
  readonly detail: string;
  /** The host of the one RPC node that states something which no other node proves. */
  readonly claimedBy?: string;
  /** Every RPC node has the transaction, and its form cannot be read. A later call fails alike. */
  readonly isUnread?: true;
}

/** How the payments of one wallet are ordered, and how many of them can be in flight at once. */
export type PaymentOrdering =
  /** The chain executes them in the order of their nonces. Any number can be in flight. */
  | { readonly by: 'account-nonce' }
  /** In any order. Each occupies one of the wallet's nonce slots, which is reusable afterwards. */
  | { readonly by: 'nonce-slots'; readonly slots: number }
  /** In any order. Each reserves UTXOs, which are unavailable to the others. */
  | { readonly by: 'utxos'; readonly maxInFlight: number };

/** The rules of a chain: what follows from their arguments alone, without an RPC call. */
export interface ChainRules<Q extends Quote = Quote, A = unknown> {
  readonly chain: Chain;
  /** The largest amount on the chain, in its smallest unit. */
  readonly largestAmount: bigint;
  /** The supported actions. */
  readonly kinds: readonly Action['kind'][];
  readonly ordering: PaymentOrdering;
  /**
   * Returns the canonical spelling. Refuses, in order: `malformed`, `zero-address`, and the faults
   * that are specific to this chain.
   */
  parseRecipient(text: string): Result<string, AddressFault>;
  /**
   * Returns the canonical spelling of an address that a program derives, which `parseRecipient`
   * refuses; null for any other.
   */
  parseKeylessRecipient(text: string): string | null;
  parseToken(text: string): Result<string, AddressFault>;
  /** Returns the canonical spelling of calldata; null for text that is malformed or too long. */
  parseCalldata(text: string): string | null;
  /** Returns the message, or refuses with a text for users. */
  parseMessage(text: string, options?: MessageOptions): Result<MessageText, string>;
  /**
   * Returns the message whose bytes are given in hex, or refuses with a text for users. Null on
   * chains whose message standard signs only text.
   */
  readonly parseRawMessage: ((hex: string) => Result<MessageText, string>) | null;
  /**
   * Returns what is wrong with the memo of a payment, as a text for users; null for a valid memo.
   */
  memoFault(memo: string): string | null;
  /** Returns the unsigned bytes of an intent. */
  compose(intent: OnChainIntent, quote: Q, anchor: A): ComposedBytes;
  /**
   * Joins bytes and signatures. Refuses bytes that are not exactly the intent, signed by exactly
   * its wallet.
   */
  assemble(
    intent: OnChainIntent,
    attempt: Attempt,
    signatures: readonly ChainSignature[],
  ): Result<{ readonly raw: string; readonly hash: string }, ChainFault>;
  /**
   * Returns the signatures in bytes that `assemble` returned, in the order of the signed messages,
   * 64 bytes each: r and s of ECDSA, or the standard form of Ed25519 and BIP-340. Throws for other
   * bytes.
   */
  signaturesIn(raw: string): readonly Uint8Array[];
  /** Returns what is signed for a message, in hex: the bytes and their hash. */
  composeMessage(intent: MessageIntent): { readonly payload: string; readonly signingDigest: string };
  /**
   * Returns the signature in the format of the chain's wallets. Refuses one that is not by exactly
   * the intent's wallet.
   */
  assembleMessage(intent: MessageIntent, signature: ChainSignature): Result<string, ChainFault>;
}

/** The rules of a chain for single fields. They compose no bytes, so a page can load them. */
export type FieldRules = Pick<ChainRules, 'largestAmount' | 'parseRecipient' | 'parseToken'>;
