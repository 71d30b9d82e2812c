import { expect, test } from 'vitest';
import type { Route } from '#http/edge/route.ts';
import type { Promises } from '../../worker/main.ts';
import type { Answer } from '../scene.worker.ts';
import { anotherToken, asService, call, coordinator, enter } from '../scene.worker.ts';

/**
 * Covers bodies that two readers could understand in two ways: text that is not well-formed
 * Unicode, bytes that are not UTF-8, and fields that occur twice. They are refused on every route,
 * whatever the schema of the route.
 */

const BODY = { vaultId: 1, deep: [{ text: 'Rent \uD800' }] };

async function answerOf({ method, path, access }: Route, raw: string | Uint8Array): Promise<Answer> {
  const line = `${method} ${path.replaceAll(/:[A-Za-z]+/g, '1')}`;
  const isService = access === 'service';
  const token = isService ? coordinator.TEST_SERVICE_KEY : (await anotherToken(await enter('trent'))).token;
  return call(line, { token, raw });
}

async function routesWithBody(): Promise<readonly Route[]> {
  await call('GET /health');
  const { ROUTES } = (globalThis as unknown as { promises: Promises }).promises;
  const routes = ROUTES.filter((route) => (route.body ?? route.optionalBody) !== undefined && !route.sessionOnly);
  expect(routes.length).toBeGreaterThan(10);
  return routes;
}

test('every route with a JSON body refuses ill-formed text with a code and a pointer', async () => {
  for (const route of await routesWithBody()) {
    const { path } = route;
    const { status, body } = await answerOf(route, JSON.stringify(BODY));
    expect([path, status, body['code'], body['errors']]).toEqual([
      path,
      400,
      'invalid-request',
      [{ pointer: '/deep/0/text', code: 'ill-formed-text', detail: 'Must be well-formed Unicode.' }],
    ]);
  }
});

test('every route with a JSON body refuses a field that occurs twice', async () => {
  const raw = String.raw`{"vaultId":1,"deep":[{"note":"shown","\u006eote":"stored"}]}`;
  for (const route of await routesWithBody()) {
    const { status, body } = await answerOf(route, raw);
    expect([route.path, status, body['code'], body['errors']]).toEqual([
      route.path,
      400,
      'invalid-request',
      [{ pointer: '/deep/0/note', code: 'duplicate-field', detail: 'The field must not occur twice.' }],
    ]);
  }
});

test('every route with a JSON body refuses bytes that are not UTF-8', async () => {
  // Each of the two bytes would become U+FFFD, so different bodies would have one meaning.
  const raw = Uint8Array.from([...new TextEncoder().encode('{"vaultId":1,"note":"'), 0xff, 0xc3, 0x22, 0x7d]);
  for (const route of await routesWithBody()) {
    const { status, body } = await answerOf(route, raw);
    expect([route.path, status, body['code'], body['detail']]).toEqual([
      route.path,
      400,
      'malformed-json',
      'The body is not valid UTF-8.',
    ]);
  }
});

test('a byte order mark changes nothing: a field that occurs twice behind it is refused', async () => {
  const create = (raw: string) => call('POST /internal/user', { token: coordinator.TEST_SERVICE_KEY, raw });
  const { body } = await create('\uFEFF{"name":"a","name":"b","email":"a@example.com"}');
  expect(body['errors'][0]).toMatchObject({ pointer: '/name', code: 'duplicate-field' });
  const email = `mark.${crypto.randomUUID()}@example.com`;
  expect((await create(`\uFEFF{"name":"mark","email":"${email}"}`)).status).toBe(201);
});

test('a route that requires a browser session refuses ill-formed text too', async () => {
  const person = await enter('alice');
  const issued = await asService(`POST /internal/user/${person.id}/session`);
  const cookie = String(issued.body['cookie']).split(';')[0] ?? '';
  const headers = { cookie, origin: 'http://conclave.test', 'sec-fetch-site': 'same-origin' };
  const answer = await call('POST /session/access-token', { headers, body: { name: 'a\uDC00' } });
  expect([answer.status, answer.body['errors'][0].code]).toEqual([400, 'ill-formed-text']);
});
