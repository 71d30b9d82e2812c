import type { UserId } from '#domain/id.ts';

/** An output of a transaction, which may be a UTXO of a wallet. */
export interface WalletOutpoint {
  /** Canonical name. */
  readonly chain: string;
  /** The hash of the transaction and the number of the output, such as `ab..cd:0`. */
  readonly outpoint: string;
}

/** A member's order not to spend a UTXO. */
export interface UtxoLock extends WalletOutpoint {
  readonly lockedBy: UserId;
  readonly lockedAtMs: number;
}

/**
 * The maximum number of locks of a vault. Each payment reads those of its chain. A transaction
 * spends at most 50 UTXOs, so a member never needs this many. Ours.
 */
export const MAX_UTXO_LOCKS = 200;
