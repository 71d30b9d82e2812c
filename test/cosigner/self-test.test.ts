import { expect, test, vi } from 'vitest';
import { serve } from '#cosigner/api/app.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { statesOfCosigners } from '#cosigner-client/pair-states.ts';
import { selfTestOf } from '#cosigner-client/self-test.ts';
import { alertsOfCosigners } from '#domain/operations/cosigner.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { cosignersInMemory } from './cosigners-in-memory.ts';
import { newKey } from './cosigners.ts';
import { streamedRequest } from './streamed-request.ts';

/** Covers that a co-signer opens its shares anew, and states its settings without a secret. */

const ABSENT = 'a'.repeat(26);

async function alertsOf(cosigners: readonly CosignerClient[], keyIds: readonly string[]): Promise<readonly string[]> {
  const states = await statesOfCosigners(cosigners, keyIds);
  // These co-signers have no recovery keys.
  const alerts = alertsOfCosigners(states).filter(({ code }) => code !== 'recovery-key-missing');
  return alerts.map(({ detail }) => detail);
}

test('shares are opened with the secrets of now, and each wrong setting is named', async () => {
  const cosigners = cosignersInMemory(3);
  const { keyId } = await newKey(cosigners.all);
  const [first] = cosigners.all;
  if (first === undefined) throw new Error('there are three co-signers');
  const tested = await selfTestOf(first, [keyId, ABSENT]);
  expect(tested.ok && tested.value.test.keys).toMatchObject([
    { keyId, epoch: 1, fault: null },
    { keyId: ABSENT, epoch: null, madeAtMs: null, fault: 'missing' },
  ]);
  expect(tested.ok && Math.abs(tested.value.test.skewMs)).toBeLessThan(5_000);
  expect(await alertsOf(cosigners.all, [keyId])).toEqual([]);
  await cosigners.encryptWith(2, '77'.repeat(32));
  await cosigners.encryptWith(3, '77'.repeat(32));
  expect(await alertsOf(cosigners.all, [keyId])).toEqual([
    'KEY_ENCRYPTION_SECRETS do not open shares at co-signers 2, 3.',
    'KEY_ENCRYPTION_SECRETS have one secret at co-signers 2, 3.',
  ]);
  await cosigners.replace(1);
  expect(await alertsOf(cosigners.all, [keyId])).toContain('Co-signers without a share of a key in use: 1.');
});

test('an answer has no secret, and more keys than eight or another body are refused', async () => {
  const cosigners = cosignersInMemory(3);
  await cosigners.encryptWith(1, '88'.repeat(32));
  const [first] = cosigners.all;
  const answer = await first?.call('self/test', { keyIds: [] });
  expect(answer?.ok).toBe(true);
  expect(JSON.stringify(answer)).not.toContain('8888');
  for (const body of [{}, { keyIds: 'a' }, { keyIds: ['short'] }, { keyIds: Array(9).fill(ABSENT) }]) {
    expect(await first?.call('self/test', body)).toMatchObject({ ok: false, refusal: { code: 'malformed' } });
  }
});

/** Returns a co-signer that answers every request with this response. */
function answering(response: () => Response): CosignerClient {
  const index = parsePartyIndex(1);
  if (index === null) throw new Error('1 is a co-signer');
  return cosignerClient(index, {
    origin: 'http://c',
    fetcher: { fetch: async () => response() },
    coordinatorSecret: null,
  });
}

test('a co-signer that fails is not unreachable, and one of an older release is no alert', async () => {
  const faultOf = async (response: () => Response) => (await statesOfCosigners([answering(response)], []))[0]?.fault;
  expect(await faultOf(() => new Response('Internal Server Error', { status: 500 }))).toBe('internal');
  expect(await faultOf(() => new Response('Not found', { status: 404 }))).toBe('unreachable');
  expect(await faultOf(() => new Response('Bad gateway', { status: 503 }))).toBe('unreachable');
  const refusal = { code: 'malformed', detail: 'path', culprit: null };
  // In the order of the calls: the pairs, the self-test, the recovery key.
  const answers = [
    { ok: true, value: {} },
    { ok: false, refusal },
    { ok: false, refusal },
  ];
  const old = answering(() => Response.json(answers.shift()));
  expect(await statesOfCosigners([old], [])).toMatchObject([{ fault: null, recoveryKey: null, test: null }]);
});

test('a request has a log line with its object and action, and nothing of its path or body otherwise', async () => {
  const lines: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line));
  const send = async (path: string, share: string | undefined) => {
    const env = { NODE_INDEX: '1', COORDINATOR_KEY: 'ab'.repeat(32), LOG_SHARE: share } as unknown as CosignerEnv;
    await serve(streamedRequest(`http://cosigner/${path}`, { method: 'POST', body: '"a text"' }), env);
  };
  await send(`v2/key/${ABSENT}/round`, '1');
  await send('v2/self/test', '1');
  await send('v2/key/a-text/round', '1');
  await send('v2/self/test', '0');
  await send('v2/self/test', undefined);
  log.mockRestore();
  const line = { event: 'request', status: 401, ms: expect.any(Number) as number };
  expect(lines.map((text) => JSON.parse(text) as object)).toEqual([
    { ...line, object: `key:${ABSENT}`, action: 'round' },
    { ...line, object: null, action: 'self/test' },
    { ...line, object: null, action: null, status: 404 },
  ]);
  expect(lines.join()).not.toContain('a-text');
});

test('the answer of a misconfigured co-signer names the setting and has no part of it', async () => {
  const env = { NODE_INDEX: '1', IDENTITY_SECRET: `${'ab'.repeat(32)}\n`, PEERS: '{}' } as unknown as CosignerEnv;
  const request = streamedRequest('http://cosigner/v2/pairs/status', { method: 'POST', body: '{}' });
  const answer = await (await serve(request, env)).text();
  expect(JSON.parse(answer)).toMatchObject({ refusal: { code: 'misconfigured', detail: 'IDENTITY_SECRET' } });
  expect(answer).not.toContain('abab');
});
