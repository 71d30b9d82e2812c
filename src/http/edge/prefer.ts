import type { HttpContext } from '#http/encode/context.ts';

const MAX_WAIT_SECONDS = 30;

/**
 * Returns how many seconds the caller waits for a change (`Prefer: wait=N`, RFC 7240): at most 30,
 * and 0 without the preference or with one that is not valid.
 */
export function preferredWaitSeconds(context: HttpContext): number {
  const header = context.req.header('prefer') ?? '';
  const match = /(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,6})"?\s*(?:[,;]|$)/i.exec(header);
  return match?.[1] === undefined ? 0 : Math.min(Number.parseInt(match[1], 10), MAX_WAIT_SECONDS);
}
