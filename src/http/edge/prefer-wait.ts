import type { HttpContext } from '#http/edge/context.ts';

const MAX_WAIT_SECONDS = 30;

/**
 * How long the caller would wait for a change (`Prefer: wait=N`, RFC 7240): at most 30 s, 0 when it does not say so. What can not
 * be read is no preference.
 */
export function preferredWaitSeconds(context: HttpContext): number {
  const header = context.req.header('prefer') ?? '';
  const match = /(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,6})"?\s*(?:[,;]|$)/i.exec(header);
  return match?.[1] === undefined ? 0 : Math.min(Number.parseInt(match[1], 10), MAX_WAIT_SECONDS);
}
