import { expect } from 'vitest';
import { promiseFault, routeOf } from './documented-answer.ts';
import type { Promises } from '../worker/main.ts';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/**
 * Asserts that a response is as its route documents. Every request of every test is checked by this
 * function.
 */
export function expectDocumented(line: string, { status, headers, body }: Answer): void {
  const { promises } = globalThis as unknown as { promises: Promises };
  const [method = '', path = ''] = line.split(' ');
  const route = routeOf(promises.ROUTES, method, path);
  const contentType = headers.get('content-type');
  const fault = route === null ? null : promiseFault(promises, route, { status, contentType, body });
  expect([line, fault]).toEqual([line, null]);
}
