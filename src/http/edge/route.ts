import type * as z from 'zod';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { ServiceScope } from '#domain/operations/service-key.ts';
import type { TokenScope } from '#domain/access/token-grant.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { OperatorParameters, ParameterOf, Parameters } from '#http/edge/path-parameters.ts';
import { parameterNames } from '#http/edge/path-parameters.ts';
import { requestReader } from '#http/edge/request-check.ts';
import { beyondVaults } from '#http/edge/vault-reach.ts';
import type { ProblemCode } from '#http/encode/problems.ts';

/** A route of a user. `access` names its rate-limit policy. */
interface UserAccess {
  readonly access: RateLimitPolicy;
  /**
   * The scope that a token requires for a command. A read requires `read`. `own` admits every
   * token, and the object of the managed token decides.
   */
  readonly scope?: Exclude<TokenScope, 'read'> | 'own';
  /** The route admits browser sessions only; tokens get 403. */
  readonly sessionOnly?: true;
  /** A device of a vault in device mode can sign the request in place of a token. */
  readonly byDevice?: true;
}

/** A route for internal service keys. */
interface ServiceAccess {
  readonly access: 'service';
  /** The scope that a key requires, by what a thief of the key could do with the route. */
  readonly scope: ServiceScope;
  readonly sessionOnly?: never;
  readonly byDevice?: never;
}

/**
 * A route for signed deliveries of a monitoring service, or for requests without a credential.
 */
interface OtherAccess<Caller extends 'monitor' | 'anyone'> {
  readonly access: Caller;
  readonly scope?: never;
  readonly sessionOnly?: never;
  readonly byDevice?: never;
}

/**
 * One endpoint without its handler. `access` names the callers that it admits. The reading of query
 * and body, the OpenAPI document and the tests derive from the same schemas.
 */
type Declaration = Description & (UserAccess | ServiceAccess | OtherAccess<'monitor'> | OtherAccess<'anyone'>);

interface Description {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
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
  /** `Prefer: wait=N` holds the response until there is a change (prefer.ts). */
  readonly waits?: true;
  /**
   * The refusals in addition to those that `commonRefusals` returns for every route of its kind.
   */
  readonly refuses: readonly ProblemCode[];
}

/** One endpoint. */
export type Route = Declaration & {
  /** Reads a request and handles it. */
  readonly respond: (context: HttpContext) => Promise<Response>;
};

type Output<S> = S extends z.ZodType ? z.output<S> : null;

/** The names of the path parameters of a route, and its schemas. */
interface Shape {
  readonly params?: string;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  readonly optionalBody?: z.ZodType;
}

type NamesOf<S extends Shape> = S['params'] extends infer Names extends string ? Names : never;

/** What a request has besides its path. */
interface Content<S extends Shape> {
  /** Null for a route without a schema of its query. */
  readonly query: Output<S['query']>;
  /** Null for a route without a body, and for an optional body that is empty. */
  readonly body: S['optionalBody'] extends z.ZodType ? Output<S['optionalBody']> | null : Output<S['body']>;
}

/** The parsed request of a user. */
export interface Input<S extends Shape> extends Content<S> {
  readonly params: Parameters<NamesOf<S>>;
}

/**
 * The parsed request of an operator. A malformed id is null, so that a route answers as for one
 * that does not exist.
 */
export interface OperatorInput<S extends Shape> extends Content<S> {
  readonly params: OperatorParameters<NamesOf<S>>;
}

type ShapeOf<R extends Declaration> = R & { readonly params: ParameterOf<R['path']> };

type InputOf<R extends Declaration> = R['access'] extends 'service' ? OperatorInput<ShapeOf<R>> : Input<ShapeOf<R>>;

/**
 * Returns the declared route and keeps the types of its path and schemas. The typed client is made
 * of these types (`http/api.ts`). The handler receives what the request has, parsed once by the
 * schemas of this declaration.
 */
export function route<const R extends Declaration>(
  declared: R & { readonly handle: (context: HttpContext, input: InputOf<R>) => Promise<Response> | Response },
): R & Pick<Route, 'respond'> {
  const read = requestReader({ ...declared, parameters: parameterNames(declared.path) });
  const isOfUser = isUserRoute(declared);
  const respond = async (context: HttpContext) => {
    const input = await read(context);
    if (!input.ok) return input.refusal;
    const beyond = isOfUser ? beyondVaults(context, declared, input.value) : null;
    return beyond ?? declared.handle(context, input.value as unknown as InputOf<R>);
  };
  return { ...declared, respond };
}

/** Returns the scope that a token requires for a route of a user; null for none. */
export function scopeOf({ method, path, access, scope, sessionOnly }: Description & UserAccess): TokenScope | null {
  if (scope === 'own' || sessionOnly === true) return null;
  if (scope !== undefined) return scope;
  if (method !== 'GET' && access !== 'read') throw new Error(`${method} ${path} declares no scope`);
  return 'read';
}

function isUserRoute({ access }: Declaration): boolean {
  return access !== 'service' && access !== 'monitor' && access !== 'anyone';
}
