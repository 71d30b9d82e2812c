import type { Route } from '#http/context.ts';
import type { Promises } from './worker/main.ts';

/** What came back for a request. */
export interface Received {
  readonly status: number;
  readonly contentType: string | null;
  readonly body: unknown;
}

/**
 * In what an answer breaks what its route promises, in words; null when it keeps it: the status and every field when it went well,
 * else a problem whose code and status are among those that the route names.
 */
export function promiseFault(promises: Promises, route: Route, { status, contentType, body }: Received): string | null {
  const { commonRefusals, problemSchema, statusOf } = promises;
  if (status === 304) return route.conditional === true ? null : '304 is not documented';
  if (status < 400) {
    // Founding or entering something again gives what is there.
    const promised = route.answer.status;
    if (status !== promised && !(promised === 201 && status === 200)) return `status ${status}`;
    const issues = route.answer.schema?.safeParse(body).error?.issues ?? [];
    return issues.length === 0 ? null : JSON.stringify(issues);
  }
  const problem = problemSchema.safeParse(body);
  if (!problem.success) return `no problem details: ${JSON.stringify(body)}`;
  const codes = [...commonRefusals(route), ...route.refuses];
  const code = codes.find((known) => known === problem.data.code);
  if (code === undefined) return `${problem.data.code} is not documented`;
  if (statusOf(code) !== status || problem.data.status !== status) return `${code} with status ${status}`;
  return contentType === 'application/problem+json' ? null : `a problem as ${contentType}`;
}

/** The route of a request line's method and path, or null. */
export function routeOf(routes: readonly Route[], method: string, path: string): Route | null {
  const parts = path.split('?')[0]?.split('/') ?? [];
  const fits = (pattern: readonly string[]) =>
    pattern.length === parts.length &&
    pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
  return routes.find((route) => route.method === method && fits(route.path.split('/'))) ?? null;
}
