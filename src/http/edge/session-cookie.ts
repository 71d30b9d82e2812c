import { SESSION_SECONDS } from '#domain/access/session.ts';
import type { HttpContext } from '#http/encode/context.ts';

/**
 * The `__Host-` prefix (RFC 6265bis) binds the cookie to this host, to the path `/` and to TLS.
 * With `SameSite=Lax`, a reader who follows a link into the dashboard is logged in, and no other
 * cross-site request carries the cookie. `isCrossSite` refuses the commands that remain possible.
 */
const NAME = '__Host-session';
const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/**
 * Returns a Set-Cookie value with these attributes. `name` begins with `__Host-`; 0 seconds delete
 * the cookie.
 */
export function hostCookie(name: string, value: string, seconds: number): string {
  return `${name}=${value}; ${ATTRIBUTES}; Max-Age=${seconds}`;
}

export function sessionCookie(value: string): string {
  return hostCookie(NAME, value, SESSION_SECONDS);
}

export function endedSessionCookie(): string {
  return hostCookie(NAME, '', 0);
}

/**
 * Returns the session value of the cookie; null without one. A browser never sends two of one name,
 * so two also give null.
 */
export function sessionValue(context: HttpContext): string | null {
  return cookieValue(context, NAME, 512);
}

/**
 * Returns the value of a cookie; null without this cookie, or when it is longer than any value that
 * this service writes.
 */
export function cookieValue(context: HttpContext, name: string, longest: number): string | null {
  const cookies = (context.req.header('cookie') ?? '').split(';').map((text) => text.trim());
  const values = cookies.filter((text) => text.startsWith(`${name}=`)).map((text) => text.slice(name.length + 1));
  return values.length === 1 && values[0] !== undefined && values[0].length <= longest ? values[0] : null;
}

/**
 * Reports whether another site sent the browser here. A command must come from a page of this
 * origin, which browsers report in `Origin` or `Sec-Fetch-Site`. A read may also come from a typed
 * address or a bookmark.
 */
export function isCrossSite(context: HttpContext): boolean {
  const [origin, site] = [context.req.header('origin'), context.req.header('sec-fetch-site')];
  const isRead = context.req.method === 'GET' || context.req.method === 'HEAD';
  if (site !== undefined && site !== 'same-origin') return !(isRead && site === 'none');
  if (origin !== undefined) return origin !== new URL(context.req.url).origin;
  return !isRead && site === undefined;
}
