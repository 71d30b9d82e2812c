import type { UserProfile } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';

/**
 * A user's login in one browser (spec part 5 method 2). Only the SHA-256 of the cookie's secret is
 * stored.
 */
export interface Session {
  /** The id that the audit records in place of a token's id. */
  readonly id: TokenId;
  readonly user: UserProfile;
  /** Lower-case hex SHA-256 of the secret. */
  readonly secretHash: string;
  readonly createdAtMs: number;
  /** When the session ended by a logout or a withdrawal; null while it is open. */
  readonly endedAtMs: number | null;
  /** As for an access token. */
  readonly firstUsedAtMs: number | null;
}

/** An idle browser is logged out after two hours, an active one after a day. Ours. */
export const SESSION_SECONDS = 24 * 60 * 60;
const IDLE_SECONDS = 2 * 60 * 60;

export type SessionFault = 'unknown' | 'ended' | 'expired';

/**
 * Returns why a secret does not open this session now, or null when it does. Checks, in order:
 * `unknown` (wrong secret), `ended`, `expired`.
 */
export function sessionFault(
  session: Session,
  presented: { readonly secretHash: string; readonly lastUsedAtMs: number | null; readonly nowMs: number },
  matches: (a: string, b: string) => boolean,
): SessionFault | null {
  const { createdAtMs } = session;
  if (!matches(session.secretHash, presented.secretHash)) return 'unknown';
  if (session.endedAtMs !== null) return 'ended';
  const idleSinceMs = presented.lastUsedAtMs ?? createdAtMs;
  const isOver =
    presented.nowMs >= createdAtMs + SESSION_SECONDS * 1000 || presented.nowMs >= idleSinceMs + IDLE_SECONDS * 1000;
  return isOver ? 'expired' : null;
}
