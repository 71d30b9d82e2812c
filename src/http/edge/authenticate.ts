import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { createMiddleware } from 'hono/factory';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import { WINDOW_SECONDS } from '#domain/access/rate-limit.ts';
import type { ServiceKey, ServiceScope } from '#domain/operations/service-key.ts';
import type { TokenScope } from '#domain/access/token-grant.ts';
import { isAcceptedFrom } from '#domain/access/token-grant.ts';
import type { TokenId } from '#domain/id.ts';
import { parseCredential } from '#http/edge/credential-value.ts';
import type { HttpContext, HttpEnv } from '#http/encode/context.ts';
import { addressOf, clientOf } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import type { ProblemCode } from '#http/encode/problems.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { limitByAddress, limitByServiceKey } from '#http/edge/address-limit.ts';
import { serviceKeysFrom } from '#http/edge/service-key-setting.ts';
import { byDevice, isOfDevice } from '#http/edge/device-request.ts';
import { endedSessionCookie, isCrossSite, sessionValue } from '#http/edge/session-cookie.ts';
import type { LimitState } from '#objects/token/quotas.ts';
import type { Limited } from '#objects/token/rate-limiter.ts';

/**
 * Authenticates a personal access token or, without an Authorization header, the session cookie.
 * Counts the request against the rate limit in the same call to the object of the credential. On
 * some routes a device can sign the request instead (`byDevice`).
 *
 * Refuses, in order: `token-missing`; for a token `token-invalid` (malformed, forged, unknown and
 * deleted tokens get the same response), `token-disabled` and `token-expired` (only when the secret
 * is correct), `address-not-allowed`; for a session `cross-site-request`, `session-invalid`,
 * `session-expired`; `quota-exceeded`; for a token `insufficient-scope`.
 */
export function authenticate(required: Requirement) {
  return createMiddleware<HttpEnv>(async (context, next) => {
    const header = context.req.header('authorization');
    const cookie = header === undefined ? sessionValue(context) : null;
    const refusal =
      header !== undefined
        ? await byHeader(context, required, header)
        : cookie !== null
          ? await bySession(context, required.policy, cookie)
          : await unauthenticated(context, 'token-missing');
    if (refusal !== null) return refusal;
    await next();
    return undefined;
  });
}

/** Admits browser sessions only. */
export const sessionOnly = createMiddleware<HttpEnv>(async (context, next) => {
  if (context.get('caller').sessionHash === null) {
    return problem(context, 'session-required', {
      detail: 'This endpoint requires a browser session. API clients poll instead.',
    });
  }
  await next();
  return undefined;
});

/** What the route of a request requires. */
interface Requirement {
  readonly policy: RateLimitPolicy;
  /** The scope that a token requires; null for none. */
  readonly scope: TokenScope | null;
  readonly byDevice: boolean;
}

async function byHeader(context: HttpContext, required: Requirement, header: string): Promise<Response | null> {
  if (!isOfDevice(header)) return byToken(context, required, header);
  return required.byDevice ? byDevice(context, header) : unauthenticated(context, 'token-missing');
}

async function byToken(context: HttpContext, { policy, scope }: Requirement, header: string): Promise<Response | null> {
  const value = bearerOf(header);
  const presented = value === null ? null : parseCredential('access-token', value, context.env.TOKEN_MAC_KEY);
  if (presented === null) return unauthenticated(context, 'token-invalid');
  const admission = await callObject(
    () => context.env.ACCESS_TOKEN.getByName(`token:${presented.id}`),
    (token) => token.admit({ secretHash: presented.secretHash, policy, scope, client: clientOf(context) }),
  );
  switch (admission.outcome) {
    case 'unauthenticated': {
      const { fault } = admission;
      const known = fault === 'expired' || fault === 'disabled';
      return unauthenticated(context, known ? `token-${fault}` : 'token-invalid');
    }
    case 'limited':
      return limited(context, admission);
    case 'refused':
      // A thief at another address must not try without a limit.
      if (admission.refusal.code === 'address-not-allowed') {
        const flood = await limitByAddress(context);
        if (flood !== null) return flood;
      }
      return refusalProblem(context, admission.refusal);
    case 'admitted': {
      const { user, tokenId, token } = admission;
      context.set('caller', { user, tokenId, token, sessionHash: null });
      setLimitHeaders(context, admission.limit);
      return null;
    }
  }
}

async function bySession(context: HttpContext, policy: RateLimitPolicy, cookie: string): Promise<Response | null> {
  if (isCrossSite(context)) {
    return problem(context, 'cross-site-request');
  }
  const presented = parseCredential('session', cookie, context.env.TOKEN_MAC_KEY);
  if (presented === null) return unauthenticated(context, 'session-invalid');
  const { secretHash } = presented;
  const admission = await callObject(
    () => sessionObject(context, presented.id),
    (session) => session.admit({ secretHash, policy, client: clientOf(context) }),
  );
  switch (admission.outcome) {
    case 'unauthenticated':
      return unauthenticated(context, admission.fault === 'expired' ? 'session-expired' : 'session-invalid');
    case 'limited':
      return limited(context, admission);
    case 'admitted':
      context.set('caller', {
        user: admission.user,
        tokenId: admission.sessionId,
        token: null,
        sessionHash: secretHash,
      });
      setLimitHeaders(context, admission.limit);
      return null;
  }
}

export function sessionObject(context: HttpContext, id: TokenId) {
  return context.env.SESSION.getByName(`session:${id}`);
}

/**
 * Admits internal service keys only. They give access to the internal interface and to nothing
 * else.
 *
 * Refuses, in order: `service-key-invalid`, `address-not-allowed`, `quota-exceeded`,
 * `insufficient-scope`. Throws for an invalid setting.
 *
 * @param scope the scope that the route requires
 */
export function authenticateService(scope: ServiceScope) {
  return createMiddleware<HttpEnv>(async (context, next) => {
    const value = bearerOf(context.req.header('authorization') ?? '');
    const key = value === null ? null : serviceKeyOf(context, value);
    if (key === null) return unauthenticated(context, 'service-key-invalid');
    const refusal = await refusalOf(context, key, scope);
    if (refusal !== null) return refusal;
    context.set('serviceKey', key.hash.slice(0, 8));
    await next();
    return undefined;
  });
}

function serviceKeyOf(context: HttpContext, value: string): ServiceKey | null {
  const hash = bytesToHex(sha256(utf8ToBytes(value)));
  // Every hash is compared, so the duration does not reveal which one is similar.
  const matches = serviceKeysFrom(context.env.SERVICE_KEY_HASHES).filter((known) =>
    constantTimeEqual(known.hash, hash),
  );
  return matches[0] ?? null;
}

async function refusalOf(context: HttpContext, key: ServiceKey, scope: ServiceScope): Promise<Response | null> {
  // The address comes before the limit, so that a thief elsewhere does not use the limit up.
  if (!isAcceptedFrom(key, addressOf(context))) {
    const detail = 'The service key is not accepted from the address of this request.';
    return (await limitByAddress(context)) ?? problem(context, 'address-not-allowed', { detail });
  }
  const flood = await limitByServiceKey(context, key.hash);
  if (flood !== null) return flood;
  if (key.scopes.includes(scope)) return null;
  return problem(context, 'insufficient-scope', {
    detail: `The service key does not have the scope '${scope}'.`,
    headers: { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    members: { scope },
  });
}

/** Returns the token in an Authorization header. The scheme is case-insensitive (RFC 9110). */
function bearerOf(header: string): string | null {
  return /^bearer +([!-~]{1,512})$/i.exec(header)?.[1] ?? null;
}

/** Returns 401, or 429 to an address that tries too often: guessing must not be free. */
async function unauthenticated(context: HttpContext, fault: ProblemCode): Promise<Response> {
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  if (fault === 'session-invalid' || fault === 'session-expired') {
    // The browser deletes a cookie that is no longer valid.
    return problem(context, fault, { detail: 'Log in again.', headers: { 'set-cookie': endedSessionCookie() } });
  }
  const challenge = fault === 'token-missing' ? 'Bearer' : 'Bearer error="invalid_token"';
  const detail =
    fault === 'service-key-invalid'
      ? 'Send a service key in the Authorization header as a bearer token.'
      : 'Send a personal access token: Authorization: Bearer service_pat_...';
  return problem(context, fault, { detail, headers: { 'www-authenticate': challenge } });
}

function limited(context: HttpContext, { of, limit }: Limited): Response {
  const name = of === 'user' ? 'limit of all credentials of the user' : 'rate limit';
  return problem(context, 'quota-exceeded', {
    detail: `The ${name}, ${limit.quota} requests per ${WINDOW_SECONDS} seconds, is exceeded.`,
    headers: { 'retry-after': String(limit.resetSeconds), ...limitHeaders(limit) },
    members: { 'violated-policies': [limit.policy] },
  });
}

function setLimitHeaders(context: HttpContext, limit: LimitState): void {
  for (const [name, value] of Object.entries(limitHeaders(limit))) context.header(name, value);
}

/**
 * Returns the RateLimit fields of the IETF draft. The name of the policy is a quoted
 * structured-field string.
 */
function limitHeaders({ policy, quota, remaining, resetSeconds }: LimitState) {
  return {
    'ratelimit-policy': `"${policy}";q=${quota};w=${WINDOW_SECONDS}`,
    ratelimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
}
