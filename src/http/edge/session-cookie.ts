import { SESSION_SECONDS } from '#domain/access/session.ts';
import type { HttpContext } from '#http/edge/context.ts';

/**
 * The `__Host-` prefix (RFC 6265bis) binds it to this host, to `/` and to TLS. `Lax`: a link into the dashboard finds its reader logged
 * in, and nothing else from elsewhere carries it; `isCrossSite` refuses what could still do something.
 */
const NAME = '__Host-session';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** A cookie of this kind. @param name begins with `__Host-` @param seconds 0 takes it back */
export function hostCookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`;
}

export function sessionCookie(value: string): string {
  return hostCookie(NAME, value, SESSION_SECONDS);
}

export function endedSessionCookie(): string {
  return hostCookie(NAME, '', 0);
}

/** The value of the cookie; null without one. Two of one name is nothing that a browser sends. */
export function sessionValue(context: HttpContext): string | null {
  return cookieValue(context, NAME, 512);
}

/** Null without a cookie of this name, or with a longer one than this service writes. */
export function cookieValue(context: HttpContext, name: string, longest: number): string | null {
  const cookies = (context.req.header('cookie') ?? '').split(';').map((text) => text.trim());
  const values = cookies.filter((text) => text.startsWith(`${name}=`)).map((text) => text.slice(name.length + 1));
  return values.length === 1 && values[0] !== undefined && values[0].length <= longest ? values[0] : null;
}

/**
 * Whether a browser was sent here by another site. A command must come from a page of this very origin, which browsers say in `Origin`
 * or `Sec-Fetch-Site`; a look may also be typed or bookmarked.
 */
export function isCrossSite(context: HttpContext): boolean {
  const [origin, site] = [context.req.header('origin'), context.req.header('sec-fetch-site')];
  const isRead = context.req.method === 'GET' || context.req.method === 'HEAD';
  if (site !== undefined && site !== 'same-origin') return !(isRead && site === 'none');
  if (origin !== undefined) return origin !== new URL(context.req.url).origin;
  return !isRead && site === undefined;
}
