import type { Context } from 'hono';
import type * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { ProblemCode } from '#http/encode/problem-code.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/** The authenticated user, with the access token or session of the request. */
interface Caller {
  readonly user: UserProfile;
  /** The id of the access token or of the session. */
  readonly tokenId: TokenId;
  /**
   * The hash of the session secret, with which a long stream checks the session again; null for a
   * token.
   */
  readonly sessionHash: string | null;
}

export interface HttpEnv {
  readonly Bindings: CoordinatorEnv;
  readonly Variables: {
    requestId: string;
    /** The declared path of the matched route; absent when no route matches. */
    route?: string;
    /** Set by `authenticate`; only routes behind it may read it. */
    caller: Caller;
    /**
     * Set by `authenticateService`: the first 8 digits of the hash of the service key, for the
     * history.
     */
    serviceKey: string;
  };
}

export type HttpContext = Context<HttpEnv>;

/**
 * One endpoint. `access` names the rate-limit policy of a route that requires a user's credential,
 * or the other callers that it admits: `service` for internal service keys, `monitor` for signed
 * deliveries of a monitoring service, `anyone` for requests without a credential. The checks of
 * query and body, the OpenAPI document and the tests derive from the same schemas.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly access: RateLimitPolicy | 'service' | 'monitor' | 'anyone';
  /** The route admits browser sessions only; tokens get 403. */
  readonly sessionOnly?: true;
  /** The summary of the endpoint in the OpenAPI document, on one line. */
  readonly summary: string;
  /** When absent, the query parameters are not checked. */
  readonly query?: z.ZodType;
  /** When absent, a command accepts no body. */
  readonly body?: z.ZodType;
  /** Replaces `body` for a command that accepts either no body, an empty object, or this. */
  readonly optionalBody?: z.ZodType;
  /** The status and the body of a successful response; null for no body. */
  readonly answer: { readonly status: 200 | 201 | 202 | 204 | 302; readonly schema: z.ZodType | null };
  /** The response has an ETag, and a matching `If-None-Match` gives 304. */
  readonly conditional?: true;
  /**
   * The refusals in addition to those that `commonRefusals` returns for every route of its kind.
   */
  readonly refuses: readonly ProblemCode[];
  readonly handle: (context: HttpContext) => Promise<Response> | Response;
}

/**
 * Returns the declared route and keeps the types of its path and schemas. The typed client is made
 * of these types (`http/api.ts`).
 */
export function route<const R extends Route>(declared: R): R {
  return declared;
}

/** IPv4 or IPv6. The platform writes nothing else into the header. */
const ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;

/** Returns the caller as the actor of a command. */
export function actorOf(context: HttpContext): Actor {
  const { user, tokenId } = context.get('caller');
  return { userId: user.id, tokenId, address: addressOf(context) };
}

/** Returns the client address that the platform reports; null when it reports none. */
export function addressOf(context: HttpContext): string | null {
  const address = context.req.header('cf-connecting-ip') ?? '';
  return ADDRESS.test(address) ? address : null;
}
