/** Spec part 8: every endpoint belongs to one type, and each type has its own window per token. */
const RATE_LIMIT_POLICIES = [
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

/** Requests per window. Spec part 8 gives 3 to 10 for token management; ours: the more an endpoint can break, the fewer. */
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
 * Ours: requests per window of a session. A person in the dashboard opens a page with several reads, and walks through pages faster than a
 * script needs to poll. A stream of events is no read: a browser opens it again by itself.
 */
export const SESSION_QUOTAS: Readonly<Record<RateLimitPolicy, number>> = {
  ...DEFAULT_QUOTAS,
  read: 300,
  write: 30,
  'token-read': 60,
  stream: 60,
};

/** The kinds of credentials that have windows of their own. */
export type LimitedCredential = 'token' | 'session';

/** One fixed window of one policy: when it began and how many requests it has admitted. */
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
 * Counts one request. A window begins with its first request and lasts 60 seconds exactly; a refused request is not counted,
 * so a client that waits `resetSeconds` is always admitted.
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
