import { WINDOW_SECONDS } from '#domain/access/rate-limit.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { problem } from '#http/encode/problem.ts';

/**
 * Counts a request without a valid credential against its client address. Returns a 429 response
 * when the address exceeds its limit, else null.
 */
export async function limitByAddress(context: HttpContext): Promise<Response | null> {
  const address = context.req.header('cf-connecting-ip') ?? 'local';
  const { success } = await context.env.SHIELD.limit({ key: address });
  if (success) return null;
  const headers = { 'retry-after': String(WINDOW_SECONDS) };
  return problem(context, 'quota-exceeded', { detail: 'Too many requests without a valid credential.', headers });
}
