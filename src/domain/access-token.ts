import type { TokenId, UserId } from '#domain/id.ts';

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
  readonly deletedAtMs: number | null;
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
  return token.expiresAt !== null && presented.nowMs >= token.expiresAt * 1000 ? 'expired' : null;
}
