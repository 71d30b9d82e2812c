import { exports } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { call, enter } from '../scene.worker.ts';

/** Covers the headers and the status codes that every response has in common. */

test.each(['/', '/nothing', '/transaction', '/transaction/', '/user/me/', '/USER/me', '/internal', '/__proto__'])(
  'the path %s does not exist',
  async (path) => {
    const answer = await call(`GET ${path}`);
    expect([answer.status, answer.body['code']]).toEqual([404, 'not-found']);
  },
);

test('a path with another method names the methods that it accepts', async () => {
  const answer = await call('DELETE /user/me');
  expect([answer.status, answer.body['code'], answer.headers.get('allow')]).toEqual([
    405,
    'method-not-allowed',
    'GET, HEAD',
  ]);
});

test('every response has a request id: the caller’s, or a new one', async () => {
  const own = await call('GET /health');
  expect(own.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  const { token } = await enter('trent');
  for (const line of ['GET /health', 'GET /user/me', 'GET /nothing', 'POST /transaction/transfer']) {
    const answer = await call(line, { token, headers: { 'x-request-id': 'job-2026.11_42' } });
    expect([line, answer.headers.get('x-request-id')]).toEqual([line, 'job-2026.11_42']);
    if (answer.status >= 400) expect(answer.body['requestId']).toBe('job-2026.11_42');
  }
});

test.each(['short', 'x'.repeat(65), 'with space', '{"a":1}', '<script>'])(
  'the invalid request id %s is replaced',
  async (id) => {
    const answer = await call('GET /health', { headers: { 'x-request-id': id } });
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  },
);

test('no response may be cached, and its content type may not be guessed', async () => {
  const { token } = await enter('trent');
  for (const line of ['GET /health', 'GET /user/me', 'GET /nothing']) {
    const { headers } = await call(line, { token });
    expect([headers.get('cache-control'), headers.get('x-content-type-options')]).toEqual(['no-store', 'nosniff']);
  }
});

test('HEAD gives the response of GET without a body', async () => {
  const { token } = await enter('trent');
  const worker = (exports as unknown as { default: Fetcher }).default;
  const response = await worker.fetch('http://conclave.test/user/me', {
    method: 'HEAD',
    headers: { authorization: `Bearer ${token}` },
  });
  expect([response.status, await response.text()]).toEqual([200, '']);
});
