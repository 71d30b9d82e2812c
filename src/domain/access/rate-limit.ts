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

/** The kinds of credentials that have their own windows. */
export type LimitedCredential = 'token' | 'session';

/** One fixed window of one policy: its start, and the number of requests that it has admitted. */
export interface Window {
  readonly startedAtMs: number;
  readonly used: number;
}

export interface Admission {
  readonly admitted: boolean;
  readonly window: Window;
  /** Requests left in this window. */
  readonly remaining: number;
  /** Whole seconds until the window resets, at least 1. */
  readonly resetSeconds: number;
}

/**
 * Counts one request. A window begins with its first request and lasts exactly 60 seconds. A
 * refused request is not counted, so a client that waits `resetSeconds` is always admitted.
 */
export function admit(window: Window | null, quota: number, nowMs: number): Admission {
  const windowMs = WINDOW_SECONDS * 1000;
  const live = window !== null && nowMs >= window.startedAtMs && nowMs < window.startedAtMs + windowMs;
  const current = live ? window : { startedAtMs: nowMs, used: 0 };
  const admitted = current.used < quota;
  const used = admitted ? current.used + 1 : current.used;
  return {
    admitted,
    window: { startedAtMs: current.startedAtMs, used },
    remaining: quota - used,
    resetSeconds: Math.max(1, Math.ceil((current.startedAtMs + windowMs - nowMs) / 1000)),
  };
}
