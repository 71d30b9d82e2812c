import type { TokenId, UserId } from '#domain/id.ts';
import type { AccessRefusal } from '#domain/access/refusal.ts';
import type { TokenGrant } from '#domain/access/token-grant.ts';
import { covers } from '#domain/access/token-grant.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * The user that a token authenticates. It is copied into the token's object so that one hop
 * authenticates.
 */
export interface UserProfile {
  readonly id: UserId;
  readonly name: string;
  readonly email: string;
}

/** A personal access token (spec part 2). Only the SHA-256 of its secret is stored. */
export interface AccessToken extends TokenGrant {
  readonly id: TokenId;
  readonly user: UserProfile;
  readonly name: string;
  /** Unix seconds (spec part 5 rule 6), or null when it never expires. */
  readonly expiresAt: number | null;
  readonly enabled: boolean;
  /** The operator has disabled the user. Only the operator ends this. */
  readonly isSuspended: boolean;
  /** Lower-case hex SHA-256 of the current secret. */
  readonly secretHash: string;
  /** The secret before the last rotation, and the time until which it still works. */
  readonly previous: { readonly secretHash: string; readonly untilMs: number } | null;
  /** The session in which it was made; null for one that an operator issued. */
  readonly madeIn: TokenId | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly rotatedAtMs: number | null;
  readonly deletedAtMs: number | null;
  /** When the secret was first presented; null before that. */
  readonly firstUsedAtMs: number | null;
}

/** `withdrawn` when an unused credential was withdrawn; `used` when it was too late for that. */
export type Withdrawal = 'withdrawn' | 'used';

/** Spec part 5 rule 7: how long the secret before a rotation still works. */
const ROTATION_GRACE_SECONDS = 5 * 60;

/** The fields that the owner may change (spec part 4). An absent field stays as it is. */
export interface TokenChange {
  readonly name?: string;
  readonly expiresAt?: number | null;
  readonly enabled?: boolean;
}

/** What the token that carries a request may do. */
export interface AdmittedToken extends TokenGrant {
  readonly expiresAt: number | null;
  /** The request presents the value before the last rotation. */
  readonly isSuperseded: boolean;
}

/** The user that manages a token, and the time. */
export interface TokenManager {
  readonly userId: UserId;
  /** The credential that carries the request. It may be the very token that is changed. */
  readonly tokenId: TokenId;
  /** Null for a session, which manages every token of its user. */
  readonly token: AdmittedToken | null;
  readonly nowMs: number;
}

/**
 * Returns the token to its owner. Refuses `access-token-not-found` for a missing token, a deleted
 * token and a token of another user alike.
 */
export function ownToken(token: AccessToken | null, userId: UserId): Result<AccessToken, AccessRefusal> {
  const visible = token !== null && token.deletedAtMs === null && token.user.id === userId;
  return visible ? accepted(token) : refused({ code: 'access-token-not-found' });
}

/**
 * Returns the token to a manager. A token manages itself, and with `manage-tokens` the tokens that
 * have neither a later end nor more access: a stolen token must not get more than it has. The value
 * before a rotation manages nothing: it can be the leaked value that the rotation replaces.
 *
 * Refuses, in order: `access-token-not-found`, `access-token-superseded`, `insufficient-scope`,
 * `access-token-beyond-own`.
 */
export function managedToken(token: AccessToken | null, by: TokenManager): Result<AccessToken, AccessRefusal> {
  const own = ownToken(token, by.userId);
  if (!own.ok || by.token === null) return own;
  if (by.token.isSuperseded) return refused({ code: 'access-token-superseded' });
  if (by.tokenId === own.value.id) return own;
  if (!by.token.scopes.includes('manage-tokens'))
    return refused({ code: 'insufficient-scope', scope: 'manage-tokens' });
  const isWithin = covers(by.token, own.value) && endOf(own.value) <= endOf(by.token);
  return isWithin ? own : refused({ code: 'access-token-beyond-own' });
}

/**
 * Returns the token with its owner's change.
 *
 * Refuses, in order: what `managedToken` refuses; `access-token-own-expiry` when a token would
 * extend its own life (a stolen token could then stay valid without end); `access-token-beyond-own`
 * when it would extend another one beyond its own end; `access-token-inactive` when an expired
 * token would be enabled.
 */
export function updatedToken(
  token: AccessToken | null,
  change: TokenChange,
  by: TokenManager,
): Result<AccessToken, AccessRefusal> {
  const own = managedToken(token, by);
  if (!own.ok) return own;
  const before = own.value;
  const after = { ...before, ...change, updatedAtMs: by.nowMs };
  const longer = endOf(after) > endOf(before);
  if (by.token !== null && by.tokenId === before.id && longer) return refused({ code: 'access-token-own-expiry' });
  if (by.token !== null && endOf(after) > endOf(by.token)) return refused({ code: 'access-token-beyond-own' });
  if (change.enabled === true && hasExpired(after, by.nowMs)) {
    return refused({ code: 'access-token-inactive', reason: 'expired' });
  }
  return accepted(after);
}

/**
 * Returns the token with a new secret. The previous secret works until its grace period ends (spec
 * part 5 rule 7). A secret that is already in its grace period ends now, so that there are never
 * two old secrets.
 *
 * Refuses, in order: what `managedToken` refuses; `access-token-inactive`, because a new secret
 * that does not work would surprise its owner.
 *
 * @param secretHash lower-case hex SHA-256 of the new secret
 */
export function rotatedToken(
  token: AccessToken | null,
  secretHash: string,
  by: TokenManager,
): Result<AccessToken, AccessRefusal> {
  const own = managedToken(token, by);
  if (!own.ok) return own;
  const before = own.value;
  if (!before.enabled) return refused({ code: 'access-token-inactive', reason: 'disabled' });
  if (hasExpired(before, by.nowMs)) return refused({ code: 'access-token-inactive', reason: 'expired' });
  const previous = { secretHash: before.secretHash, untilMs: by.nowMs + ROTATION_GRACE_SECONDS * 1000 };
  return accepted({ ...before, secretHash, previous, rotatedAtMs: by.nowMs, updatedAtMs: by.nowMs });
}

/**
 * Returns the token after its final deletion (spec part 5 rule 8), which ends all of its secrets.
 * Refuses what `managedToken` refuses.
 */
export function deletedToken(token: AccessToken | null, by: TokenManager): Result<AccessToken, AccessRefusal> {
  const own = managedToken(token, by);
  return own.ok ? accepted(endedToken(own.value, by.nowMs)) : own;
}

/** Returns a token that never authenticates again. */
export function endedToken(token: AccessToken, nowMs: number): AccessToken {
  return { ...token, enabled: false, previous: null, updatedAtMs: nowMs, deletedAtMs: nowMs };
}

function endOf({ expiresAt }: Pick<AccessToken, 'expiresAt'>): number {
  return expiresAt ?? Infinity;
}

function hasExpired(token: AccessToken, nowMs: number): boolean {
  return token.expiresAt !== null && nowMs >= token.expiresAt * 1000;
}

export type AdmissionFault = 'unknown' | 'deleted' | 'disabled' | 'expired';

/**
 * Returns why a secret does not authenticate with this token now, or null when it does. Checks, in
 * order: `deleted`, `unknown` (a wrong secret, or the old one after its grace period), `disabled`,
 * `expired` (the caller then disables the token: spec part 5 rule 5).
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
  const previous = isPrevious(token, presented.secretHash, matches);
  const inGrace = token.previous !== null && presented.nowMs < token.previous.untilMs;
  if (!current && !(previous && inGrace)) return 'unknown';
  if (!token.enabled || token.isSuspended) return 'disabled';
  return hasExpired(token, presented.nowMs) ? 'expired' : null;
}

/** Reports whether a hash is the one of the secret before the last rotation. */
export function isPrevious(
  { previous }: Pick<AccessToken, 'previous'>,
  secretHash: string,
  matches: (a: string, b: string) => boolean,
): boolean {
  return previous !== null && matches(previous.secretHash, secretHash);
}
