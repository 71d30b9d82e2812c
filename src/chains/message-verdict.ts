import type { MessageIntent } from '#domain/transaction/intent.ts';

type MessageFormat = MessageIntent['format'];

/** The claim that the key of an address of one chain has signed a message. */
export interface MessageClaim {
  /** CAIP-2. */
  readonly chain: string;
  /** In the canonical spelling of its chain. */
  readonly address: string;
  /** Null: the format that a new message of this text would have. */
  readonly format: MessageFormat | null;
  readonly message: string;
  /** As the wallets of its chain give it. */
  readonly signature: string;
}

/**
 * Why a signature is not valid, or why that is not known here:
 * - `other-signer`: it is not by the key of this address over this message.
 * - `not-canonical`: a form that the standard refuses, so that nobody can make a second valid
 *   signature out of a first one.
 * - `contract-wallet`, `other-variant`, `other-script`: only a node or a script interpreter can tell.
 */
export const VERDICT_REASONS = [
  'other-signer',
  'not-canonical',
  'contract-wallet',
  'other-variant',
  'other-script',
] as const;
type VerdictReason = (typeof VERDICT_REASONS)[number];

/** Reports whether the key of the address has claim. `valid` is null where this cannot be checked here. */
export type Verdict =
  | { readonly valid: true; readonly reason: null; readonly detail: null }
  | { readonly valid: false | null; readonly reason: VerdictReason; readonly detail: string };

/** A part of the claim that is malformed: no signature of this kind looks like it. */
export interface ClaimFault {
  readonly field: 'format' | 'message' | 'signature';
  readonly detail: string;
}

export interface MessageVerdict {
  readonly format: MessageFormat;
  readonly verdict: Verdict;
}

export const VALID: Verdict = { valid: true, reason: null, detail: null };

export const OTHER_SIGNER: Verdict = {
  valid: false,
  reason: 'other-signer',
  detail: 'The signature was not made by the key of this address for this message.',
};

export function notCanonical(detail: string): Verdict {
  return { valid: false, reason: 'not-canonical', detail };
}
