import type { AccessRefusal } from '#domain/access/refusal.ts';
import type { PolicyChangeState } from '#domain/policy/change-state.ts';
import type { RuleViolation } from '#domain/policy/rules.ts';

/** What Conclave can refuse of a policy or a policy change, and by a rule of a policy. */
export type PolicyRefusal =
  | AccessRefusal
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
  | { readonly code: 'founding-incomplete' };
