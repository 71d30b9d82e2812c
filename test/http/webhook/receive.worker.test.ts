import { createExecutionContext } from 'cloudflare:test';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Promises } from '../../worker/main.ts';
import type { Answer } from '../scene.worker.ts';
import { call, coordinator } from '../scene.worker.ts';

/**
 * Covers the webhook endpoint for monitors: a signed delivery is stored unchanged, and a delivery
 * of an unknown sender stores nothing.
 */

const SECRET = 'the-signing-key-of-the-tests';
const LINE = 'POST /webhook/alchemy/of-the-tests';
/** The number of refused deliveries of one address per minute, as configured for the tests. */
const LIMIT = 600;

const signature = (body: string | Uint8Array, secret = SECRET) =>
  createHmac('sha256', secret).update(body).digest('hex');

/** Each delivery has another address, because addresses with too many failures are blocked. */
let positions = 0;

async function deliver(
  line: string,
  body: BodyInit | null,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  await call('GET /health');
  const { app } = (globalThis as unknown as { promises: Promises }).promises;
  const [method = '', path = ''] = line.split(' ');
  positions += 1;
  const from = { 'cf-connecting-ip': `203.0.113.${positions % 250}` };
  const request = new Request(`http://conclave.test${path}`, { method, headers: { ...from, ...headers }, body });
  const response = await app.fetch(request, coordinator, createExecutionContext());
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}

const rows = async () =>
  (await coordinator.DB.prepare('SELECT id, body, state, outcome FROM deliveries ORDER BY received_at_ms').all())
    .results;
const code = ({ status, body }: Answer) => [status, body['code']];

test('a signed delivery is stored unchanged, once, and is processed', async () => {
  const before = await rows();
  const body = JSON.stringify({ id: 'whevt_1', event: { network: 'ETH_MAINNET', activity: [] } });
  const headers = { 'x-alchemy-signature': signature(body) };
  const [first, second] = [await deliver(LINE, body, headers), await deliver(LINE, body, headers)];
  expect([first.status, first.body, second.status]).toEqual([200, { received: true }, 200]);
  const kept = (await rows()).slice(before.length);
  expect(kept.map((row) => row['body'])).toEqual([body]);
});

test('an unknown sender gets the same refusal for every fault, and nothing is stored', async () => {
  const before = await rows();
  const body = '{"event":{}}';
  const headers = { 'x-alchemy-signature': signature(body) };
  const tries = [
    await deliver(LINE, `${body} `, headers),
    await deliver(LINE, body, {}),
    await deliver(LINE, body, { 'x-alchemy-signature': signature(body, 'another-signing-key') }),
    await deliver(LINE, body, { 'x-alchemy-signature': signature(body).toUpperCase() }),
    await deliver('POST /webhook/alchemy/unknown', body, headers),
    await deliver('POST /webhook/infura/of-the-tests', body, headers),
    await deliver('POST /webhook/helius/of-the-tests', body, { authorization: SECRET }),
    await deliver('POST /webhook/__proto__/of-the-tests', body, headers),
  ];
  expect(tries.map(code)).toEqual(tries.map(() => [401, 'webhook-refused']));
  expect(new Set(tries.map((answer) => answer.body['detail'])).size).toBe(1);
  expect(await rows()).toEqual(before);
});

test('a signed delivery without a usable content gives 200, because any other response would stop the monitor', async () => {
  const senseless = ['', 'null', '{', '[[[[', '{"event":{"network":7}}', '['.repeat(100_000), '"\\ud800"'];
  for (const body of senseless) {
    const answer = await deliver(LINE, body, { 'x-alchemy-signature': signature(body) });
    expect([body.slice(0, 20), answer.status]).toEqual([body.slice(0, 20), 200]);
  }
  const bytes = new Uint8Array([0xff, 0xfe, 0x00, 0x80]);
  expect((await deliver(LINE, bytes, { 'x-alchemy-signature': signature(bytes) })).status).toBe(200);
});

test('a compressed delivery is decompressed before it is verified', async () => {
  const body = '{"event":{"network":"ETH_MAINNET","activity":[]},"packed":true}';
  const stream = new Blob([body]).stream().pipeThrough(new CompressionStream('gzip'));
  const packed = await new Response(stream).arrayBuffer();
  const headers = { 'x-alchemy-signature': signature(body), 'content-encoding': 'gzip' };
  expect((await deliver(LINE, packed, headers)).status).toBe(200);
  expect((await rows()).some((row) => row['body'] === body)).toBe(true);
  expect(code(await deliver(LINE, 'not gzip at all', headers))).toEqual([413, 'body-too-large']);
  expect(code(await deliver(LINE, packed, { ...headers, 'content-encoding': 'br' }))).toEqual([413, 'body-too-large']);
});

test('a body of ten megabytes, packed or not, is refused before it is read completely', async () => {
  const before = await rows();
  const large = 'x'.repeat(10 * 1024 * 1024);
  const headers = { 'x-alchemy-signature': signature(large) };
  expect(code(await deliver(LINE, large, headers))).toEqual([413, 'body-too-large']);
  const stream = new Blob([large]).stream().pipeThrough(new CompressionStream('gzip'));
  const packed = await new Response(stream).arrayBuffer();
  expect(packed.byteLength).toBeLessThan(20_000);
  expect(code(await deliver(LINE, packed, { ...headers, 'content-encoding': 'gzip' }))).toEqual([
    413,
    'body-too-large',
  ]);
  expect(await rows()).toEqual(before);
});

test('a sender of repeated invalid deliveries is blocked, and a valid delivery from its address is accepted', async () => {
  const { app } = (globalThis as unknown as { promises: Promises }).promises;
  const body = '{"event":{}}';
  const send = (headers: Record<string, string>) =>
    app.fetch(
      new Request('http://conclave.test/webhook/alchemy/of-the-tests', {
        method: 'POST',
        body,
        headers: { ...headers, 'cf-connecting-ip': '203.0.113.251' },
      }),
      coordinator,
      createExecutionContext(),
    );
  // The platform counts per minute of the clock. The requests may fall into two minutes, so only
  // more than twice the limit is certain to reach it.
  const seen = new Set<number>();
  for (let tries = 0; tries <= 2 * LIMIT && !seen.has(429); tries++) seen.add((await send({})).status);
  expect(seen).toEqual(new Set([401, 429]));
  expect((await send({ 'x-alchemy-signature': signature(body) })).status).toBe(200);
});

test('the endpoint accepts only POST', async () => {
  expect((await call('GET /webhook/alchemy/of-the-tests')).status).toBe(405);
});
