import * as z from 'zod';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { cookieValue, hostCookie } from '#http/edge/session-cookie.ts';
import type { LoginAttempt } from '#login/openid.ts';

/**
 * A pending login, stored in the browser that started it. The service stores nothing of it, and it
 * is of no use to another browser.
 */
export interface StoredAttempt extends LoginAttempt {
  /** The path of this service to open after the login. */
  readonly to: string;
}

const NAME = '__Host-login';
/** A login that takes longer has to be started again. */
const SECONDS = 15 * 60;

const kept = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() });

export function attemptCookie(attempt: StoredAttempt): string {
  const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  return hostCookie(NAME, value, SECONDS);
}

export function endedAttemptCookie(): string {
  return hostCookie(NAME, '', 0);
}

/**
 * Returns the pending login of the browser; null without one, or when this service has not written
 * the cookie.
 */
export function attemptOf(context: HttpContext): StoredAttempt | null {
  const value = cookieValue(context, NAME, 2048);
  if (value === null) return null;
  return kept.safeParse(jsonIn(Buffer.from(value, 'base64url').toString('utf8'))).data ?? null;
}

/** Returns a path of this service. Any other target in a link becomes `/`. */
export function pathOf(context: HttpContext, text: string | undefined): string {
  const { origin } = new URL(context.req.url);
  if (text === undefined || !URL.canParse(text, origin)) return '/';
  const { origin: target, pathname, search, hash } = new URL(text, origin);
  return target === origin && text.startsWith('/') ? `${pathname}${search}${hash}` : '/';
}

/**
 * Returns the address to which the identity provider redirects. The provider has to be configured
 * with it.
 */
export function redirectUriOf(context: HttpContext): string {
  return new URL('/login/callback', context.req.url).href;
}
