import type { Route } from '#http/edge/route.ts';
import type { commonRefusals } from '#http/common-refusals.ts';
import type { problemSchema, statusOf } from '#http/encode/problem.ts';

/** The parts of the API description that state which responses a route may give. */
export interface Promised {
  readonly commonRefusals: typeof commonRefusals;
  readonly problemSchema: typeof problemSchema;
  readonly statusOf: typeof statusOf;
}

/** The response that a route gave. */
export interface Received {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: unknown;
}

/**
 * Returns how a response differs from the documentation of its route, or null if it does not. A
 * success must have the documented status and fields. A refusal must be a problem whose code and
 * status the route documents.
 */
export function promiseFault(promised: Promised, route: Route, { status, contentType, body }: Received): string | null {
  const { commonRefusals: common, problemSchema: shape, statusOf: statusFor } = promised;
  if (status === 304) return route.conditional === true ? null : '304 is not documented';
  if (status < 400) {
    // A repeated creation returns the existing object with 200.
    const expected = route.answer.status;
    if (status !== expected && !(expected === 201 && status === 200)) return `status ${status}`;
    const issues = route.answer.schema?.safeParse(body).error?.issues ?? [];
    return issues.length === 0 ? null : JSON.stringify(issues);
  }
  const problem = shape.safeParse(body);
  if (!problem.success) return `no problem details: ${JSON.stringify(body)}`;
  const codes = [...common(route), ...route.refuses];
  const code = codes.find((known) => known === problem.data.code);
  if (code === undefined) return `${problem.data.code} is not documented`;
  if (statusFor(code) !== status || problem.data.status !== status) return `${code} with status ${status}`;
  return contentType === 'application/problem+json' ? null : `a problem as ${contentType}`;
}

/** Returns the route that matches a method and a path, or null. */
export function routeOf(routes: readonly Route[], method: string, path: string): Route | null {
  const parts = path.split('?')[0]?.split('/') ?? [];
  const fits = (pattern: readonly string[]) =>
    pattern.length === parts.length &&
    pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
  return routes.find((route) => route.method === method && fits(route.path.split('/'))) ?? null;
}
