import { expect, test } from 'vitest';
import { serve } from '#cosigner/api/app.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { approvedTransfer, newKey } from '../cosigner/cosigners.ts';
import { cosignersInMemory } from '../cosigner/cosigners-in-memory.ts';
import { thresholdSign } from '../cosigner/threshold-sign.ts';
import { party } from '../mpc/dealt-key.ts';

/** Covers a coordinator and a co-signer of two releases, which speak different versions. */

/** A co-signer that speaks these versions, and the paths of the requests that it got. */
function cosignerOf(spoken: readonly number[]) {
  const paths: string[] = [];
  const fetch = async (url: string) => {
    const path = new URL(url).pathname;
    paths.push(path);
    if (spoken.some((version) => path.startsWith(`/v${version}/`))) return Response.json({ ok: true, value: 'done' });
    const refusal = { code: 'wire-mismatch', detail: spoken.join(' '), culprit: null };
    return Response.json({ ok: false, refusal }, { status: 404 });
  };
  return { paths, fetcher: { fetch } as unknown as Pick<Fetcher, 'fetch'> };
}

function clientOf({ fetcher }: ReturnType<typeof cosignerOf>, index: number, versions: readonly number[]) {
  return cosignerClient(party(index), { origin: 'http://cosigner', fetcher, coordinatorSecret: null }, versions);
}

test('a newer coordinator speaks the version of an older co-signer, and remembers it', async () => {
  const older = cosignerOf([1]);
  const client = clientOf(older, 1, [2, 1]);
  for (const path of ['key/a/open', 'key/a/start'])
    expect(await client.call(path, {})).toEqual({ ok: true, value: 'done' });
  expect(older.paths).toEqual(['/v2/key/a/open', '/v1/key/a/open', '/v1/key/a/start']);
});

test('an older coordinator speaks its own version with a newer co-signer', async () => {
  const newer = cosignerOf([2, 1]);
  expect(await clientOf(newer, 2, [1]).call('key/a/open', {})).toMatchObject({ ok: true });
  expect(newer.paths).toEqual(['/v1/key/a/open']);
});

test('releases without a common version stop with the versions of the co-signer', async () => {
  const far = cosignerOf([4, 3]);
  expect(await clientOf(far, 3, [2, 1]).call('key/a/open', {})).toMatchObject({
    ok: false,
    refusal: { code: 'wire-mismatch', detail: '4 3' },
  });
  expect(far.paths).toEqual(['/v2/key/a/open']);
});

test.each([[1], [2]])('a coordinator that speaks version %i generates a key and signs', async (version) => {
  const cosigners = cosignersInMemory(3, [version]);
  const key = await newKey(cosigners.all);
  expect((await thresholdSign(cosigners.all, approvedTransfer({ key }))).ok).toBe(true);
});

test.each([
  ['/v3/pairs/status', 404, { code: 'wire-mismatch', detail: '2 1' }],
  ['/vx/pairs/status', 404, { code: 'malformed', detail: 'path' }],
  ['/pairs/status', 404, { code: 'malformed', detail: 'path' }],
])('a co-signer answers %s with %s', async (path, status, refusal) => {
  const answer = await serve(new Request(`http://cosigner${path}`, { method: 'POST', body: '{}' }), {} as CosignerEnv);
  expect([answer.status, await answer.json()]).toEqual([status, { ok: false, refusal: { ...refusal, culprit: null } }]);
});
