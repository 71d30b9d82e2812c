import * as z from 'zod';
import type { HttpContext } from '#http/edge/context.ts';
import { cookieValue, hostCookie } from '#http/edge/session-cookie.ts';
import type { LoginAttempt } from '#login/openid.ts';

/** A login on its way, in the browser that has begun it. It says nothing to anybody else, and nothing of it is stored here. */
export interface StoredAttempt extends LoginAttempt {
  /** A path of this service: where to go afterwards. */
  readonly to: string;
}

const NAME = '__Host-login';
/** Whoever takes longer begins anew. */
const SECONDS = 15 * 60;

const kept = z.strictObject({ state: z.string(), nonce: z.string(), verifier: z.string(), to: z.string() });

export function attemptCookie(attempt: StoredAttempt): string {
  const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  return hostCookie(NAME, value, SECONDS);
}

export function endedAttemptCookie(): string {
  return hostCookie(NAME, '', 0);
}

/** Null without one, or with what this service has not written. */
export function attemptOf(context: HttpContext): StoredAttempt | null {
  const value = cookieValue(context, NAME, 2048);
  if (value === null) return null;
  try {
    const parsed = kept.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString('utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** A path of this very service, whatever somebody has put into a link. */
export function pathOf(context: HttpContext, text: string | undefined): string {
  const { origin } = new URL(context.req.url);
  if (text === undefined || !URL.canParse(text, origin)) return '/';
  const { origin: target, pathname, search, hash } = new URL(text, origin);
  return target === origin && text.startsWith('/') ? `${pathname}${search}${hash}` : '/';
}

/** Where the issuer sends people back to. It has to know the address. */
export function redirectUriOf(context: HttpContext): string {
  return new URL('/login/callback', context.req.url).href;
}
