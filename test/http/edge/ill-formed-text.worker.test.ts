import { expect, test } from 'vitest';
import type { Promises } from '../../worker/main.ts';
import type { Answer } from '../scene.worker.ts';
import { anotherToken, call, asService, enter } from '../scene.worker.ts';

/**
 * Covers text that is not well-formed Unicode: it is refused on every route, whatever the schema of
 * the route.
 */

const BODY = { vaultId: 1, deep: [{ text: 'Rent \uD800' }] };

async function answerOf(method: string, path: string, access: string): Promise<Answer> {
  const line = `${method} ${path.replaceAll(/:[A-Za-z]+/g, '1')}`;
  if (access === 'service') return asService(line, BODY);
  const { token } = await anotherToken(await enter('trent'));
  return call(line, { token, body: BODY });
}

test('every route with a JSON body refuses ill-formed text with a code and a pointer', async () => {
  await call('GET /health');
  const { ROUTES } = (globalThis as unknown as { promises: Promises }).promises;
  const routes = ROUTES.filter((route) => (route.body ?? route.optionalBody) !== undefined && !route.sessionOnly);
  expect(routes.length).toBeGreaterThan(10);
  for (const { method, path, access } of routes) {
    const { status, body } = await answerOf(method, path, access);
    expect([path, status, body['code'], body['errors']]).toEqual([
      path,
      400,
      'invalid-request',
      [{ pointer: '/deep/0/text', code: 'ill-formed-text', detail: 'Must be well-formed Unicode.' }],
    ]);
  }
});

test('a route that requires a browser session refuses ill-formed text too', async () => {
  const person = await enter('alice');
  const issued = await asService(`POST /internal/user/${person.id}/session`);
  const cookie = String(issued.body['cookie']).split(';')[0] ?? '';
  const headers = { cookie, origin: 'http://conclave.test', 'sec-fetch-site': 'same-origin' };
  const answer = await call('POST /session/access-token', { headers, body: { name: 'a\uDC00' } });
  expect([answer.status, answer.body['errors'][0].code]).toEqual([400, 'ill-formed-text']);
});
