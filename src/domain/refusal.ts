import type { CredentialResetState } from '#domain/access/credential-reset.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { PolicyChangeState } from '#domain/policy/change-state.ts';
import type { RuleViolation } from '#domain/policy/rules.ts';
import type { TransactionState } from '#domain/transaction/transaction.ts';

/**
 * Everything that Conclave can refuse to an authenticated caller. A closed union:
 * `http/encode/problems.ts` has the status of each code (spec part 7), and a new code without a row
 * there does not compile.
 */
export type Refusal =
  /**
   * The caller is not a member of the vault, the role is insufficient, or the vault does not exist:
   * one answer for all.
   */
  | { readonly code: 'forbidden' }
  | { readonly code: 'transaction-not-found' }
  | { readonly code: 'transaction-not-pending'; readonly state: TransactionState }
  | { readonly code: 'transaction-not-broadcast'; readonly state: TransactionState }
  /**
   * RPC nodes show the UTXOs of the transaction, or no poll has happened yet: it ends by itself.
   */
  | { readonly code: 'end-not-unknown'; readonly state: TransactionState }
  /** The vault counts only approvals with a device signature. */
  | { readonly code: 'device-signature-required' }
  | { readonly code: 'device-signature-refused'; readonly fault: string }
  /** An attempt of a transaction in flight spends the UTXO, so a lock would have no effect. */
  | { readonly code: 'utxo-in-flight'; readonly transactionId: string }
  | { readonly code: 'too-many-utxo-locks'; readonly limit: number }
  | { readonly code: 'idempotency-key-reused' }
  | { readonly code: 'external-id-taken'; readonly transactionId: string }
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
  | { readonly code: 'max-fee-above-cap'; readonly largest: Amount }
  /** A rule of the vault's policy. */
  | { readonly code: 'policy-forbids'; readonly breach: RuleViolation }
  | { readonly code: 'policy-change-not-found' }
  | { readonly code: 'policy-change-not-pending'; readonly state: PolicyChangeState }
  /** The proposed policy equals the policy in force. */
  | { readonly code: 'policy-unchanged' }
  | { readonly code: 'too-many-policy-changes'; readonly limit: number }
  /** The caller holds the slots of one person. Others can still propose changes. */
  | { readonly code: 'too-many-own-policy-changes'; readonly limit: number }
  /** The change removes the caller as a signer, and the other signers decide on it. */
  | { readonly code: 'removed-by-change' }
  /** No policy of this version was adopted by a change. */
  | { readonly code: 'policy-version-not-found' }
  /** Co-signers still adopt the policy on the mandate that it has. */
  | { readonly code: 'mandate-in-force'; readonly expiresAtMs: number }
  | { readonly code: 'founding-incomplete' }
  /** Unknown, deleted, or another user's token: one answer for all. */
  | { readonly code: 'access-token-not-found' }
  /**
   * The user already had a credential, so an operator issues another one only after a credential
   * reset.
   */
  | { readonly code: 'credential-reset-required' }
  | { readonly code: 'credential-reset-not-found' }
  /** The delay has not passed, or a vault could not be informed of the reset yet. */
  | { readonly code: 'credential-reset-not-ready'; readonly effectiveAtMs: number | null }
  | { readonly code: 'credential-reset-not-pending'; readonly state: CredentialResetState }
  | { readonly code: 'too-many-credential-resets'; readonly limit: number }
  /** The caller has cancelled an earlier reset of the same person. */
  | { readonly code: 'reset-cancellation-used'; readonly availableAtMs: number }
  | { readonly code: 'access-token-own-expiry' }
  | { readonly code: 'access-token-inactive'; readonly reason: 'disabled' | 'expired' };
