import { expect, test } from 'vitest';
import { responseOf } from '#cosigner/api/request-body.ts';
import { declaredLength, readAtMost, readDeclared } from '#domain/bounded-read.ts';
import { accepted } from '#domain/result.ts';

/**
 * Tests how much a co-signer reads of the body of a request. The limit also holds for a service
 * binding, where no signature is required.
 */

const URL_WITHOUT_SERVER = 'http://cosigner/v1/pairs/status';

/** Returns a request whose body delivers a thousand bytes at each pull, and the number of pulls. */
function streamed(turns: number) {
  const seen = { turns: 0, isCancelled: false };
  const body = new ReadableStream({
    type: 'bytes',
    pull: (controller) => {
      if (seen.turns === turns) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      seen.turns += 1;
      controller.enqueue(new Uint8Array(1000).fill(seen.turns));
    },
    cancel: () => {
      seen.isCancelled = true;
    },
  });
  const request = new Request(URL_WITHOUT_SERVER, { method: 'POST', body, duplex: 'half' } as RequestInit);
  return { request, seen };
}

test('a body up to the limit is read unchanged', async () => {
  const { request, seen } = streamed(3);
  const body = await readAtMost(request.body, 3000);
  expect([body?.length, body?.[0], body?.[1000], body?.[2999]]).toEqual([3000, 1, 2, 3]);
  expect(seen).toEqual({ turns: 3, isCancelled: false });
  expect(await readAtMost(new Request(URL_WITHOUT_SERVER, { method: 'POST' }).body, 3000)).toEqual(new Uint8Array());
});

test('the first byte beyond the limit cancels the stream, and no more of it is read', async () => {
  const { request, seen } = streamed(1_000_000);
  expect(await readAtMost(request.body, 2999)).toBeNull();
  // One more pull may be pending when the stream is cancelled.
  expect(seen.turns).toBeLessThanOrEqual(4);
  expect(seen.isCancelled).toBe(true);
});

test('a body with a declared length is read once, and no byte after that length', async () => {
  const { request, seen } = streamed(1_000_000);
  expect((await readDeclared(request.body, 2500)).length).toBe(2500);
  expect(seen.turns).toBeLessThanOrEqual(4);
  expect((await readDeclared(streamed(2).request.body, 2500)).length).toBe(2000);
  expect(await readDeclared(null, 5)).toEqual(new Uint8Array());
});

test.each<[string, string | null, number | null]>([
  ['no length', null, null],
  ['a length', '4000', 4000],
  ['a length that is no number', '4e2', Number.MAX_SAFE_INTEGER],
  ['a length of two values', '10, 10', Number.MAX_SAFE_INTEGER],
  ['a length of twenty digits', '1'.repeat(20), Number.MAX_SAFE_INTEGER],
])('a request with %s declares it, or more than any limit', (_name, length, declared) => {
  const headers = length === null ? {} : { 'content-length': length };
  expect(declaredLength(new Request(URL_WITHOUT_SERVER, { method: 'POST', headers }))).toBe(declared);
});

test('every answer declares its length in bytes', async () => {
  const round = { sid: 'ab'.repeat(32), envelopes: { 2: new Uint8Array(300).fill(9) } };
  for (const [value, version] of [
    [{ text: 'naïve' }, 2],
    [round, 2],
    [round, 1],
  ] as const) {
    const response = responseOf(accepted(value), version);
    const declared = declaredLength(response);
    expect(declared).toBe((await response.arrayBuffer()).byteLength);
  }
});
