import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { createMiddleware } from 'hono/factory';
import { equalTexts } from '#domain/equal-texts.ts';
import type { RateLimitPolicy } from '#domain/rate-limit.ts';
import { WINDOW_SECONDS } from '#domain/rate-limit.ts';
import { parseTokenValue } from '#http/access-token-value.ts';
import type { HttpContext, HttpEnv } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import type { HttpFault } from '#http/problem.ts';
import { problem } from '#http/problem.ts';
import type { LimitState } from '#objects/access-token.ts';

/**
 * Authenticates a personal access token (spec part 5) and counts the request (spec part 8), in one hop to the token's object.
 *
 * Refuses, in order: `token-missing`, `token-invalid` (malformed, forged, unknown, deleted: one answer for all),
 * `token-disabled` and `token-expired` (only to somebody who has the right secret), `quota-exceeded`.
 */
export function authenticate(policy: RateLimitPolicy) {
  return createMiddleware<HttpEnv>(async (context, next) => {
    const header = context.req.header('authorization');
    if (header === undefined) return unauthenticated(context, 'token-missing');
    const value = bearerOf(header);
    const presented = value === null ? null : parseTokenValue(value, context.env.TOKEN_MAC_KEY);
    if (presented === null) return unauthenticated(context, 'token-invalid');
    const admission = await askObject(
      () => context.env.ACCESS_TOKEN.getByName(`token:${presented.id}`),
      (token) => token.admit({ secretHash: presented.secretHash, policy }),
    );
    switch (admission.outcome) {
      case 'unauthenticated': {
        const { fault } = admission;
        const known = fault === 'expired' || fault === 'disabled';
        return unauthenticated(context, known ? `token-${fault}` : 'token-invalid');
      }
      case 'limited':
        return limited(context, admission.limit);
      case 'admitted':
        context.set('caller', { user: admission.user, tokenId: admission.tokenId });
        setLimitHeaders(context, admission.limit);
        await next();
        return undefined;
    }
  });
}

/** Lets internal service keys in, and nobody else. They open nothing but the internal interface. */
export const authenticateService = createMiddleware<HttpEnv>(async (context, next) => {
  const value = bearerOf(context.req.header('authorization') ?? '');
  const hash = bytesToHex(sha256(utf8ToBytes(value ?? '')));
  const hashes = context.env.SERVICE_KEY_HASHES.split(',').map((text) => text.trim());
  // Every one is compared, so the time does not tell which came close.
  const matches = hashes.filter((known) => equalTexts(known, hash));
  if (value === null || matches.length === 0) return unauthenticated(context, 'service-key-invalid');
  await next();
  return undefined;
});

/** The token of an Authorization header; the scheme is case-insensitive (RFC 9110). */
function bearerOf(header: string): string | null {
  return /^bearer +([!-~]{1,512})$/i.exec(header)?.[1] ?? null;
}

/** Answers 401, or 429 to an address that tries too often: guessing must not be free. */
async function unauthenticated(context: HttpContext, fault: HttpFault): Promise<Response> {
  const address = context.req.header('cf-connecting-ip') ?? 'local';
  const { success } = await context.env.SHIELD.limit({ key: address });
  if (!success) {
    const headers = { 'retry-after': String(WINDOW_SECONDS) };
    return problem(context, 'quota-exceeded', { detail: 'Too many requests without a valid credential.', headers });
  }
  const challenge = fault === 'token-missing' ? 'Bearer' : 'Bearer error="invalid_token"';
  const detail = 'Send a personal access token: Authorization: Bearer service_pat_...';
  return problem(context, fault, { detail, headers: { 'www-authenticate': challenge } });
}

function limited(context: HttpContext, limit: LimitState): Response {
  const response = problem(context, 'quota-exceeded', {
    detail: `The limit of ${limit.quota} requests per ${WINDOW_SECONDS} seconds is used up.`,
    headers: { 'retry-after': String(limit.resetSeconds), ...limitHeaders(limit) },
    members: { 'violated-policies': [limit.policy] },
  });
  return response;
}

function setLimitHeaders(context: HttpContext, limit: LimitState): void {
  for (const [name, value] of Object.entries(limitHeaders(limit))) context.header(name, value);
}

/** RateLimit fields of the IETF draft: the policy's name is a quoted structured-field string. */
function limitHeaders({ policy, quota, remaining, resetSeconds }: LimitState) {
  return {
    'ratelimit-policy': `"${policy}";q=${quota};w=${WINDOW_SECONDS}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}
