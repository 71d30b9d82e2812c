import type { Hono } from 'hono';
import type * as z from 'zod';
import type { ParameterOf } from '#http/edge/path-parameters.ts';
import type { Routes } from '#http/routes.ts';

/**
 * The API as a type, derived from the declarations of its routes. `hc<Api>(url)` of hono/client is
 * a client that knows every path, body, query and successful response. The type has no run-time
 * code.
 */
export type Api = Hono<object, ApiSchema, '/'>;

type ApiSchema = {
  [Path in Routes[number]['path']]: {
    [R in Extract<Routes[number], { readonly path: Path }> as `$${Lowercase<R['method']>}`]: EndpointOf<R>;
  };
};

type EndpointOf<R extends Routes[number]> = {
  input: InputOf<R>;
  output: R['answer']['schema'] extends infer S extends z.ZodType ? z.output<S> : null;
  outputFormat: 'json';
  status: R['answer']['status'];
};

type InputOf<R extends Routes[number]> = BodyOf<R> & QueryOf<R> & ParametersOf<R['path']>;
type BodyOf<R> = R extends { readonly body: infer S extends z.ZodType }
  ? { json: z.input<S> }
  : R extends { readonly optionalBody: infer S extends z.ZodType }
    ? { json?: z.input<S> }
    : object;
type QueryOf<R> = R extends { readonly query: infer S extends z.ZodType } ? { query: z.input<S> } : object;
type ParametersOf<Path extends string> = [ParameterOf<Path>] extends [never]
  ? object
  : { param: { [Name in ParameterOf<Path>]: string } };
