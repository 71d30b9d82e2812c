import type { CredentialResetState } from '#domain/access/credential-reset.ts';
import type { TokenScope } from '#domain/access/token-grant.ts';

/** What Conclave can refuse of a person, a device, a token or a credential reset. */
export type AccessRefusal =
  /**
   * The caller is not a member of the vault, the role is insufficient, or the vault does not exist:
   * one answer for all.
   */
  | { readonly code: 'forbidden' }
  /** The caller is a member, and has not accepted the vault. */
  | { readonly code: 'vault-not-accepted' }
  /** An accepted vault can no longer be declined. */
  | { readonly code: 'vault-accepted' }
  | { readonly code: 'member-not-found' }
  /** Only another admin, or an operator, disables an admin. */
  | { readonly code: 'own-access' }
  /** The other signers would have no quorum. */
  | { readonly code: 'quorum-disabled' }
  | { readonly code: 'too-much-disabled'; readonly limit: number }
  /** The vault counts only approvals with a device signature. */
  | { readonly code: 'device-signature-required' }
  | { readonly code: 'device-signature-refused'; readonly fault: string }
  /** Unknown, deleted, or another user's token: one answer for all. */
  | { readonly code: 'access-token-not-found' }
  /** The session ended while it created a token. */
  | { readonly code: 'session-invalid' }
  /** The user has no such token or open session. */
  | { readonly code: 'credential-not-found' }
  /** An operator has disabled the user, and no credential is issued. */
  | { readonly code: 'user-disabled' }
  | { readonly code: 'too-many-access-tokens'; readonly limit: number }
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
  /** The token that carries the request lacks the scope. */
  | { readonly code: 'insufficient-scope'; readonly scope: TokenScope }
  /** The token is not accepted from the address of the client. */
  | { readonly code: 'address-not-allowed' }
  /** The request carries the value before the last rotation. */
  | { readonly code: 'access-token-superseded' }
  | { readonly code: 'access-token-own-expiry' }
  /** The managed token has, or would have, a later end or more access than the one that manages. */
  | { readonly code: 'access-token-beyond-own' }
  | { readonly code: 'access-token-inactive'; readonly reason: 'disabled' | 'expired' };
