import type { Bid } from '#chains/bid.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';

/** What a co-signer commits to: bytes that it has decoded and checked itself. */
export interface Commitment {
  readonly purpose: AttemptPurpose;
  readonly intentDigest: string;
  /**
   * The signed messages, each with its own signature: a digest for ECDSA, the bytes for Ed25519,
   * one message for each UTXO for Bitcoin.
   */
  readonly signedMessages: readonly Uint8Array[];
  /** 32 bytes that identify what is signed. */
  readonly signingDigest: Uint8Array;
  /** Null for a message, which nothing ever replaces. */
  readonly bid: Bid | null;
}
