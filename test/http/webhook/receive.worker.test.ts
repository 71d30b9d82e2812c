import { createExecutionContext } from 'cloudflare:test';
import { createHmac } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test, vi } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
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
  env: CoordinatorEnv = coordinator,
): Promise<Answer> {
  await call('GET /health');
  const { app } = (globalThis as unknown as { promises: Promises }).promises;
  const [method = '', path = ''] = line.split(' ');
  positions += 1;
  const from = { 'cf-connecting-ip': `203.0.113.${positions % 250}` };
  const request = new Request(`http://conclave.test${path}`, { method, headers: { ...from, ...headers }, body });
  const response = await app.fetch(request, env, createExecutionContext());
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
});

test('a signed delivery that is not UTF-8 is refused and not stored, because its text would be another', async () => {
  const before = await rows();
  // As text with U+FFFD the body would have three times its length, which is too large for a row.
  const large = new Uint8Array(900_000).fill(0xff);
  for (const bytes of [new Uint8Array([0xff, 0xfe, 0x00, 0x80]), large]) {
    const refused = await deliver(LINE, bytes, { 'x-alchemy-signature': signature(bytes) });
    expect(code(refused)).toEqual([400, 'invalid-request']);
  }
  expect(await rows()).toEqual(before);
});

test('the largest delivery fits into its row, also with characters that JSON escapes', async () => {
  for (const filler of ['\u0001', '\u0000', '"']) {
    const before = (await rows()).length;
    const body = filler.repeat(1024 * 1024);
    expect((await deliver(LINE, body, { 'x-alchemy-signature': signature(body) })).status).toBe(200);
    const kept = (await rows()).slice(before).map((row) => row['body'] === body);
    expect([filler, kept]).toEqual([filler, [true]]);
  }
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

/** A body that records how often it was read. */
function recordedBody(): { readonly stream: ReadableStream<Uint8Array>; readonly pulls: () => number } {
  let pulls = 0;
  const stream = new ReadableStream(
    {
      type: 'bytes',
      pull(controller: ReadableByteStreamController) {
        pulls += 1;
        if (pulls <= 64) controller.enqueue(new Uint8Array(16 * 1024).fill(120));
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, pulls: () => pulls };
}

const STANDARD = 'POST /webhook/standard-webhooks/own';
const WHSEC = `whsec_${btoa('a-secret-of-the-own-monitor')}`;
const withStandard = (...secrets: readonly string[]) => ({
  ...coordinator,
  WEBHOOK_ENDPOINTS: JSON.stringify({
    own: { provider: 'standard-webhooks', secrets },
    'of-the-tests': { provider: 'alchemy', secrets: [SECRET] },
  }),
});
const standardHeaders = (signatures: string) => ({
  'webhook-id': 'n',
  'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
  'webhook-signature': signatures,
});
const candidates = (count: number) =>
  Array.from({ length: count }, (_, i) => `v1,${btoa(String.fromCharCode(i % 256).repeat(32))}`).join(' ');

test('a delivery that its headers already refuse is counted, and its body is never read', async () => {
  const of = 'x-alchemy-signature';
  const cases: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ['POST /webhook/alchemy/unknown', { [of]: signature('') }],
    ['POST /webhook/helius/of-the-tests', { authorization: SECRET }],
    [LINE, {}],
    [LINE, { [of]: 'no signature' }],
    [STANDARD, standardHeaders(candidates(11))],
    [STANDARD, standardHeaders(candidates(2_500))],
    [STANDARD, { ...standardHeaders(candidates(1)), 'webhook-timestamp': '1614265330' }],
  ];
  for (const [line, headers] of cases) {
    const { stream, pulls } = recordedBody();
    const counted: string[] = [];
    const SHIELD = { limit: async ({ key }: { key: string }) => ({ success: counted.push(key) > 0 }) };
    const answer = await deliver(line, stream, headers, { ...withStandard(WHSEC), SHIELD });
    expect([line, headers, code(answer), pulls(), counted.length]).toEqual([
      line,
      headers,
      [401, 'webhook-refused'],
      0,
      1,
    ]);
  }
});

test('the body is read for headers that can be authentic, and costs one MAC for each secret', async () => {
  const macs = vi.spyOn(crypto.subtle, 'sign');
  const { stream, pulls } = recordedBody();
  const secrets = Array.from({ length: 10 }, (_, i) => `whsec_${btoa(`secret-${i}-of-the-own-monitor`)}`);
  const answer = await deliver(STANDARD, stream, standardHeaders(candidates(10)), withStandard(...secrets));
  expect([code(answer), pulls() > 0, macs.mock.calls.length]).toEqual([[401, 'webhook-refused'], true, 10]);
  macs.mockRestore();
});

test('all addresses of an IPv6 network count together, at this endpoint and for a wrong token', async () => {
  const counted: string[] = [];
  const SHIELD = { limit: async ({ key }: { key: string }) => ({ success: counted.push(key) > 0 }) };
  for (const address of ['2001:db8::1', '2001:db8::ffff:ffff:ffff:ffff', '2001:DB8:0:0:1::']) {
    const headers = { 'cf-connecting-ip': address };
    await deliver(LINE, 'x', headers, { ...coordinator, SHIELD });
    await call('GET /user/me', { token: 'service_pat_wrong', headers, env: { ...coordinator, SHIELD } });
  }
  expect(counted).toEqual(Array.from({ length: 6 }, () => '2001:db8:0:0::/64'));
});

test('a body that is too large counts against its address, too', async () => {
  const counted: string[] = [];
  const SHIELD = { limit: async ({ key }: { key: string }) => ({ success: counted.push(key) > 1 }) };
  const send = () =>
    deliver(LINE, 'x'.repeat(1024 * 1024 + 1), { 'x-alchemy-signature': signature('') }, { ...coordinator, SHIELD });
  expect(code(await send())).toEqual([429, 'quota-exceeded']);
  expect(code(await send())).toEqual([413, 'body-too-large']);
});

test('Ed25519 follows RFC 8032 in this runtime, too', async () => {
  const seed = new Uint8Array(32).fill(7);
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed);
  const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
  const send = (signed: Uint8Array) =>
    deliver(STANDARD, '{}', standardHeaders(`v1a,${base64(signed)}`), withStandard(`whpk_${base64(pointBytes)}`));
  const text = () => utf8ToBytes(`n.${Math.floor(Date.now() / 1000)}.{}`);
  const order = ed25519.Point.Fn.ORDER;
  // The neutral point as the key: R = s * B fits every message.
  const neutral = hexToBytes(`01${'00'.repeat(31)}`);
  const forged = standardHeaders(
    `v1a,${base64(concatBytes(ed25519.Point.BASE.multiply(7n).toBytes(), numberToBytesLE(7n, 32)))}`,
  );
  expect((await deliver(STANDARD, '{}', forged, withStandard(`whpk_${base64(neutral)}`))).status).toBe(401);
  const signed = ed25519.sign(text(), seed);
  expect((await send(signed)).status).toBe(200);
  // The same signature with s + L, and another encoding of the neutral point.
  const s = bytesToNumberLE(signed.slice(32)) + order;
  expect((await send(concatBytes(signed.slice(0, 32), numberToBytesLE(s, 32)))).status).toBe(401);
  const odd = hexToBytes(`ee${'ff'.repeat(30)}7f`);
  const k = bytesToNumberLE(sha512(concatBytes(odd, pointBytes, text()))) % order;
  expect((await send(concatBytes(odd, numberToBytesLE((k * scalar) % order, 32)))).status).toBe(401);
});

test('an endpoint with too many open parts is refused before anything is stored, and other deliveries are not', async () => {
  await call('GET /health');
  const id = 'many-parts';
  const stored = `INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, tries, due_at_ms, parts)
    VALUES (?, 'alchemy', 'of-the-tests', '', 0, 'open', 1, 9999999999999, 3998)`;
  await coordinator.DB.prepare(stored).bind(id).run();
  const bodyOf = (count: number) => {
    const activity = Array.from({ length: count }, (_, i) => ({
      hash: `0x${String(count * 1000 + i).padStart(64, '0')}`,
    }));
    return JSON.stringify({ event: { network: 'ETH_MAINNET', activity } });
  };
  const send = (count: number) => deliver(LINE, bodyOf(count), { 'x-alchemy-signature': signature(bodyOf(count)) });
  const before = await rows();
  const budgets = async () => (await coordinator.DB.prepare('SELECT * FROM hint_budgets').all()).results;
  const charged = await budgets();
  const refused = await send(51);
  expect([refused.status, refused.body['code'], refused.headers.get('retry-after')]).toEqual([
    429,
    'quota-exceeded',
    '300',
  ]);
  expect([await rows(), await budgets()]).toEqual([before, charged]);
  expect((await send(50)).status).toBe(200);
  expect((await send(26)).status).toBe(429);
  expect((await send(25)).status).toBe(200);
  // The same delivery again is a repetition and no further one.
  expect((await send(50)).status).toBe(200);
  await coordinator.DB.prepare('DELETE FROM deliveries WHERE id = ?').bind(id).run();
  expect((await send(51)).status).toBe(200);
});
