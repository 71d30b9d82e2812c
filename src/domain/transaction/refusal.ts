import type { Amount } from '#domain/asset/amount.ts';
import type { UserId } from '#domain/id.ts';
import type { PolicyRefusal } from '#domain/policy/refusal.ts';
import type { TransactionState } from '#domain/transaction/transaction.ts';

/**
 * Everything that Conclave can refuse to an authenticated caller. A closed union:
 * `http/encode/problems.ts` has the status of each code (spec part 7), and a new code without a row
 * there does not compile.
 */
export type Refusal =
  | PolicyRefusal
  | { readonly code: 'transaction-not-found' }
  | { readonly code: 'transaction-not-pending'; readonly state: TransactionState }
  | { readonly code: 'transaction-not-broadcast'; readonly state: TransactionState }
  /**
   * RPC nodes show the UTXOs of the transaction, or no poll has happened yet: it ends by itself.
   */
  | { readonly code: 'end-not-unknown'; readonly state: TransactionState }
  /** An attempt of a transaction in flight spends the UTXO, so a lock would have no effect. */
  | { readonly code: 'utxo-in-flight'; readonly transactionId: string }
  | { readonly code: 'too-many-utxo-locks'; readonly limit: number }
  | { readonly code: 'idempotency-key-reused' }
  | {
      readonly code: 'external-id-taken';
      readonly transactionId: string;
      readonly state: TransactionState;
      readonly createdBy: UserId;
    }
  /** The transaction could no longer be executed. */
  | { readonly code: 'not-after-passed'; readonly notAfterMs: number }
  | { readonly code: 'wallet-not-ready'; readonly chain: string }
  | { readonly code: 'chain-not-enabled'; readonly chain: string }
  | { readonly code: 'too-many-pending'; readonly limit: number }
  /** The caller holds the slots of one person. Others can still create transactions. */
  | { readonly code: 'too-many-own-pending'; readonly limit: number }
  /** The recipient of a token is its contract, and the caller does not acknowledge that. */
  | { readonly code: 'recipient-is-token'; readonly address: string }
  /** An address resembles a known one and is different: it may be address poisoning. */
  | { readonly code: 'recipient-looks-alike'; readonly address: string; readonly known: string }
  /** The requested largest fee is above what chain and policy allow, in the smallest unit. */
  | { readonly code: 'max-fee-above-cap'; readonly largest: Amount };
