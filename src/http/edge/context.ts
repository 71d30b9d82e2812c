import type { Context } from 'hono';
import type * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { ProblemCode } from '#http/encode/problem-code.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';

/** Who is calling: a person, through one of that person's tokens, or a login. */
interface Caller {
  readonly user: UserProfile;
  /** Of the token, or of the session. */
  readonly tokenId: TokenId;
  /** What opens the session again, for a stream that goes on; null for a token. */
  readonly sessionHash: string | null;
}

export interface HttpEnv {
  readonly Bindings: CoordinatorEnv;
  readonly Variables: {
    requestId: string;
    /** The path of the route that answers, as it is declared; absent where none does. */
    route?: string;
    /** Set by `authenticate`; only routes behind it may read it. */
    caller: Caller;
    /** Set by `authenticateService`: the first 8 digits of the hash of the service key, for the history. */
    serviceKey: string;
  };
}

export type HttpContext = Context<HttpEnv>;

/**
 * One endpoint. `access` names the rate-limit policy of a token-authenticated route, or who else may come: `service` for
 * internal service keys, `monitor` for what a monitoring service has signed, `anyone` for what needs no credential. The checks of query and body, the document and the tests follow from
 * the same schemas.
 */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly access: RateLimitPolicy | 'service' | 'monitor' | 'anyone';
  /** Only for people in a browser: tokens get 403. */
  readonly sessionOnly?: true;
  /** What it does, in one line of the interface's document. */
  readonly summary: string;
  /** Without one, parameters of the query are not looked at. */
  readonly query?: z.ZodType;
  /** Without one, a command takes no body. */
  readonly body?: z.ZodType;
  /** In place of it: of a command that takes nothing, an empty object, or this. */
  readonly optionalBody?: z.ZodType;
  /** When all went well: the status, and the body (null: none). */
  readonly answer: { readonly status: 200 | 201 | 202 | 204 | 302; readonly schema: z.ZodType | null };
  /** The answer has an ETag, and `If-None-Match` may get 304 in its place. */
  readonly conditional?: true;
  /** Besides what `commonRefusals` names for every route of its kind. */
  readonly refuses: readonly ProblemCode[];
  readonly handle: (context: HttpContext) => Promise<Response> | Response;
}

/** Declares a route, and keeps the types of its path and schemas: the typed client is made of them (`http/api.ts`). */
export function route<const R extends Route>(declared: R): R {
  return declared;
}

/** IPv4 or IPv6. Anything else in the header was not written by the platform. */
const ADDRESS = /^[0-9A-Fa-f:.]{2,45}$/;

/** The voice of the caller. */
export function actorOf(context: HttpContext): Actor {
  const { user, tokenId } = context.get('caller');
  return { userId: user.id, tokenId, address: addressOf(context) };
}

/** Where a request comes from, as the platform says; null where it says nothing. */
export function addressOf(context: HttpContext): string | null {
  const address = context.req.header('cf-connecting-ip') ?? '';
  return ADDRESS.test(address) ? address : null;
}
