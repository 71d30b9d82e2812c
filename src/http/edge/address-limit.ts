import { ipv6Groups } from '#domain/access/client-address.ts';
import { WINDOW_SECONDS } from '#domain/access/rate-limit.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { problem } from '#http/encode/problem.ts';

/**
 * Counts a request without a valid credential against its client address. Returns a 429 response
 * when the address exceeds its limit, else null.
 */
export function limitByAddress(context: HttpContext): Promise<Response | null> {
  const key = limitKeyOf(context.req.header('cf-connecting-ip') ?? 'local');
  return limitBy(context, key, 'Too many requests without a valid credential.');
}

/**
 * Counts a request with a service key against the key, from every address. Returns a 429 response
 * when the key exceeds its limit, else null.
 */
export function limitByServiceKey(context: HttpContext, hash: string): Promise<Response | null> {
  // Longer than the key of any address, so the two are never counted together.
  return limitBy(context, `service-key:${hash}`, 'Too many requests with this service key.');
}

async function limitBy(context: HttpContext, key: string, detail: string): Promise<Response | null> {
  const { success } = await context.env.SHIELD.limit({ key });
  if (success) return null;
  return problem(context, 'quota-exceeded', { detail, headers: { 'retry-after': String(WINDOW_SECONDS) } });
}

/** Longer than any address. */
const MAX_KEY_LENGTH = 64;

/**
 * Returns the key under which requests of an address are counted. For IPv6 it is the network of 64
 * bits, because one client usually has all of its 2^64 addresses. An IPv4 address in IPv6
 * (`::ffff:192.0.2.1`) counts as the IPv4 address. Any other text is its own key.
 */
export function limitKeyOf(address: string): string {
  const groups = ipv6Groups(address);
  if (groups === null) return address.slice(0, MAX_KEY_LENGTH);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}
