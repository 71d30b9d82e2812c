import type { TokenId, UserId } from '#domain/id.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The person that a token speaks for, copied into the token's object so that one hop authenticates. */
export interface UserProfile {
  readonly id: UserId;
  readonly name: string;
  readonly email: string;
}

/** A personal access token (spec part 2). Of its value only the SHA-256 of the secret is kept. */
export interface AccessToken {
  readonly id: TokenId;
  readonly user: UserProfile;
  readonly name: string;
  /** Unix seconds (spec part 5 rule 6), or null when it never expires. */
  readonly expiresAt: number | null;
  readonly enabled: boolean;
  /** Lower-case hex SHA-256 of the current secret. */
  readonly secretHash: string;
  /** The value before the last rotation, and until when it still works. */
  readonly previous: { readonly secretHash: string; readonly untilMs: number } | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly rotatedAtMs: number | null;
  readonly deletedAtMs: number | null;
  /**
   * When its value was presented first; null before that. Absent in a token that is older than this field: such a token counts
   * as used.
   */
  readonly firstUsedAtMs?: number | null;
}

/** Whether an unused credential was withdrawn; `used` when it was too late for that. */
export type Withdrawal = 'withdrawn' | 'used';

/** Spec part 5 rule 7: how long the value before a rotation still works. */
const ROTATION_GRACE_SECONDS = 5 * 60;

/** What its owner may change (spec part 4). A field that is absent stays as it is. */
export interface TokenChange {
  readonly name?: string;
  readonly expiresAt?: number | null;
  readonly enabled?: boolean;
}

/** Who manages a token, and when. */
export interface TokenManager {
  readonly userId: UserId;
  /** The token that carries the request: it may be the very one that is changed. */
  readonly tokenId: TokenId;
  readonly nowMs: number;
}

/**
 * The token, to its owner. A deleted one, and one of somebody else, is as if it did not exist: `access-token-not-found`.
 */
export function ownToken(token: AccessToken | null, userId: UserId): Result<AccessToken, Refusal> {
  const visible = token !== null && token.deletedAtMs === null && token.user.id === userId;
  return visible ? accepted(token) : refused({ code: 'access-token-not-found' });
}

/**
 * The token with a change of its owner.
 *
 * Refuses, in order: `access-token-not-found`; `access-token-own-expiry` when a token would give itself a longer life (a
 * stolen one could then never run out); `access-token-inactive` when it would be enabled although its time is over.
 */
export function updatedToken(
  token: AccessToken | null,
  change: TokenChange,
  by: TokenManager,
): Result<AccessToken, Refusal> {
  const own = ownToken(token, by.userId);
  if (!own.ok) return own;
  const before = own.value;
  const after = { ...before, ...change, updatedAtMs: by.nowMs };
  const longer = endOf(after) > endOf(before);
  if (by.tokenId === before.id && longer) return refused({ code: 'access-token-own-expiry' });
  if (change.enabled === true && hasExpired(after, by.nowMs)) {
    return refused({ code: 'access-token-inactive', reason: 'expired' });
  }
  return accepted(after);
}

/**
 * The token with a new secret. The one before works until its grace is over (spec part 5 rule 7); one that was already in its
 * grace ends now, so there are never two old values.
 *
 * Refuses, in order: `access-token-not-found`, `access-token-inactive`: a new value that does not work would surprise.
 *
 * @param secretHash lower-case hex SHA-256 of the new secret
 */
export function rotatedToken(
  token: AccessToken | null,
  secretHash: string,
  by: TokenManager,
): Result<AccessToken, Refusal> {
  const own = ownToken(token, by.userId);
  if (!own.ok) return own;
  const before = own.value;
  if (!before.enabled) return refused({ code: 'access-token-inactive', reason: 'disabled' });
  if (hasExpired(before, by.nowMs)) return refused({ code: 'access-token-inactive', reason: 'expired' });
  const previous = { secretHash: before.secretHash, untilMs: by.nowMs + ROTATION_GRACE_SECONDS * 1000 };
  return accepted({ ...before, secretHash, previous, rotatedAtMs: by.nowMs, updatedAtMs: by.nowMs });
}

/** The token, gone for good (spec part 5 rule 8) with every value that it had. Refuses `access-token-not-found`. */
export function deletedToken(token: AccessToken | null, by: TokenManager): Result<AccessToken, Refusal> {
  const own = ownToken(token, by.userId);
  if (!own.ok) return own;
  return accepted({ ...own.value, enabled: false, previous: null, updatedAtMs: by.nowMs, deletedAtMs: by.nowMs });
}

function endOf({ expiresAt }: AccessToken): number {
  return expiresAt ?? Infinity;
}

function hasExpired(token: AccessToken, nowMs: number): boolean {
  return token.expiresAt !== null && nowMs >= token.expiresAt * 1000;
}

export type AdmissionFault = 'unknown' | 'deleted' | 'disabled' | 'expired';

/**
 * Whether a secret opens this token now. Refuses, in order: `deleted`, `unknown` (wrong secret, or the old one after its
 * grace), `disabled`, `expired` (the caller then disables the token: spec part 5 rule 5).
 *
 * @param matches compares two hashes in constant time
 */
export function admissionFault(
  token: AccessToken,
  presented: { readonly secretHash: string; readonly nowMs: number },
  matches: (a: string, b: string) => boolean,
): AdmissionFault | null {
  if (token.deletedAtMs !== null) return 'deleted';
  const current = matches(token.secretHash, presented.secretHash);
  const previous = token.previous !== null && matches(token.previous.secretHash, presented.secretHash);
  const inGrace = token.previous !== null && presented.nowMs < token.previous.untilMs;
  if (!current && !(previous && inGrace)) return 'unknown';
  if (!token.enabled) return 'disabled';
  return hasExpired(token, presented.nowMs) ? 'expired' : null;
}
