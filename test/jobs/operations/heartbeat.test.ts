import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { heartbeatUrl } from '#domain/operations/heartbeat.ts';
import { callHeartbeat } from '#jobs/operations/heartbeat.ts';

/** Covers the call by which a check from outside notices that the sweep does not run. */

afterEach(() => void vi.restoreAllMocks());

/** Starts a check that answers with a status. Returns what it gets, and what is logged. */
async function checkWith(status: number) {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  await callHeartbeat({ HEARTBEAT_URL: `http://127.0.0.1:${port}/ping/secret` });
  await new Promise((resolve) => void server.close(resolve));
  const lines = logged.mock.calls.map(([line]) => String(line));
  logged.mockRestore();
  return { calls, lines };
}

test('the check is called once, and an answer of any kind of success is no fault', async () => {
  expect(await checkWith(200)).toEqual({ calls: ['GET /ping/secret'], lines: [] });
  expect(await checkWith(204)).toEqual({ calls: ['GET /ping/secret'], lines: [] });
});

test('a failed call is logged without the URL, and follows no redirect', async () => {
  const line = (fault: string) => [JSON.stringify({ event: 'heartbeat-failed', fault })];
  expect(await checkWith(500)).toEqual({ calls: ['GET /ping/secret'], lines: line('HTTP 500') });
  expect(await checkWith(302)).toEqual({ calls: ['GET /ping/secret'], lines: line('HTTP 302') });
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  await callHeartbeat({ HEARTBEAT_URL: 'http://127.0.0.1:1/ping/secret' });
  expect(logged.mock.calls.flat()).toEqual(line('No response.'));
});

test('an empty setting calls nothing, and another form is refused without its content', async () => {
  for (const nothing of [undefined, '', '  ']) expect(heartbeatUrl(nothing)).toBeNull();
  for (const wrong of ['ping.example/secret', 'http://ping.example/secret', 'https://a.example https://secret']) {
    expect(() => heartbeatUrl(wrong)).toThrow('HEARTBEAT_URL');
    expect(() => heartbeatUrl(wrong)).not.toThrow('secret');
  }
});
