import { expect } from 'vitest';
import type { Route } from '#http/context.ts';
import type { ProblemCode } from '#http/problem.ts';
import type { Promises } from '../main.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Holds an answer against what its route promises: the status and every field when it went well, else a problem whose code and
 * status are among those that the route names. Every request of every test goes through here.
 */
export function expectDocumented(line: string, answer: Answer): void {
  const { ROUTES, commonRefusals, problemSchema, statusOf } = (globalThis as unknown as { promises: Promises })
    .promises;
  const route = routeOf(ROUTES, line);
  if (route === null || answer.status === 304) return;
  const { schema, status } = route.answer;
  if (answer.status < 400) {
    // Founding or entering something again gives what is there.
    expect([line, answer.status === status || (status === 201 && answer.status === 200)]).toEqual([line, true]);
    const faults = schema?.safeParse(answer.body).error?.issues ?? [];
    expect([line, faults]).toEqual([line, []]);
    return;
  }
  const problem = problemSchema.parse(answer.body);
  const codes: readonly string[] = [...commonRefusals(route), ...route.refuses];
  expect([line, codes.includes(problem.code) ? '' : `${problem.code} is not documented`]).toEqual([line, '']);
  expect([answer.status, problem.status]).toEqual([statusOf(problem.code as ProblemCode), answer.status]);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
}

function routeOf(routes: readonly Route[], line: string): Route | null {
  const [method = '', target = ''] = line.split(' ');
  const parts = target.split('?')[0]?.split('/') ?? [];
  const fits = (pattern: readonly string[]) =>
    pattern.length === parts.length &&
    pattern.every((part, i) => (part.startsWith(':') ? parts[i] !== '' : part === parts[i]));
  return routes.find((route) => route.method === method && fits(route.path.split('/'))) ?? null;
}
