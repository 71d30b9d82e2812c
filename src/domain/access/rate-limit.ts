/** Spec part 8: every endpoint belongs to one type, and each type has its own window per token. */
export const RATE_LIMIT_POLICIES = [
  'read',
  'write',
  'token-read',
  'token-update',
  'token-secret',
  'user-profile',
  'stream',
] as const;
export type RateLimitPolicy = (typeof RATE_LIMIT_POLICIES)[number];

export const WINDOW_SECONDS = 60;

/**
 * Requests in each window. Spec part 8 gives 3 to 10 for token management. Ours: the more damage an
 * endpoint can cause, the fewer requests.
 */
export const DEFAULT_QUOTAS: Readonly<Record<RateLimitPolicy, number>> = {
  read: 20,
  write: 10,
  'token-read': 10,
  'token-update': 5,
  'token-secret': 3,
  'user-profile': 300,
  stream: 20,
};

/**
 * Ours: requests in each window of a session. A user of the dashboard opens a page with several
 * reads, and changes pages faster than a script needs to poll. A stream of events is not a read: a
 * browser reopens it by itself.
 */
export const SESSION_QUOTAS: Readonly<Record<RateLimitPolicy, number>> = {
  ...DEFAULT_QUOTAS,
  read: 300,
  write: 30,
  'token-read': 60,
  stream: 60,
};

/**
 * Ours: in each window all tokens of one user together have this many times the quota of a token,
 * and all sessions that of a session.
 */
export const QUOTAS_OF_USER = 3;

const WINDOWS_OF_DAY = (24 * 60 * 60) / WINDOW_SECONDS;

/** Ours: what a record takes in the stores beside the bytes of its request. */
const RECORD_BYTES = 4 * 1024;

/** Returns what one creation counts against the bytes of a day. */
export function bytesOfCreation(body: Uint8Array | undefined): number {
  return RECORD_BYTES + (body?.length ?? 0);
}

/**
 * Ours: the bytes that a user may create in any 24 hours with all tokens, or in all sessions. They
 * suffice for one credential that creates ordinary payments at its write limit all day. Without
 * them a user with large requests could fill the database of all vaults within hours.
 */
export function dailyBytes(writes: number): number {
  return writes * WINDOWS_OF_DAY * (RECORD_BYTES + 512);
}

/** The kinds of credentials that have their own windows. */
export type LimitedCredential = 'token' | 'session';
