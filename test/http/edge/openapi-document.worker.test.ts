import { expect, test } from 'vitest';
import { ROUTES } from '#http/routes.ts';
import type { Treasury } from '../scene.worker.ts';
import { anotherToken, call, coordinator, foundTreasury } from '../scene.worker.ts';

/** Covers the OpenAPI document and the documentation page. */

const fetched = async (path: string) => {
  const { exports } = await import('cloudflare:workers');
  return (exports as unknown as { default: Fetcher }).default.fetch(`http://conclave.test${path}`);
};

test('the document has every endpoint that a token opens, and none that a service key opens', async () => {
  const { body } = await call('GET /openapi.json');
  const documented = Object.entries(body['paths'] as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const shown = ROUTES.filter(
    ({ access, sessionOnly }) => access !== 'service' && access !== 'monitor' && sessionOnly !== true,
  );
  expect(documented.toSorted()).toEqual(
    shown.map(({ method, path }) => `${method} ${path.replaceAll(/:([A-Za-z]+)/g, '{$1}')}`).toSorted(),
  );
  expect(JSON.stringify(body)).not.toContain('internal/');
  const { headers } = await fetched('/openapi.json');
  expect([body['openapi'], headers.get('content-type'), headers.get('cache-control')]).toEqual([
    '3.1.0',
    'application/json',
    'public, max-age=300',
  ]);
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  const again = await call('GET /openapi.json', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  expect(again.status).toBe(304);
});

test('every reference of the document has a target, and no two operations have the same name', async () => {
  const { body } = await call('GET /openapi.json');
  const text = JSON.stringify(body);
  const targets = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target = '']) => target);
  expect(targets.length).toBeGreaterThan(50);
  for (const target of targets) {
    expect([target, target.replace('#/components/schemas/', '') in body['components'].schemas]).toEqual([target, true]);
  }
  const names = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, name]) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('the documentation page requires no script, and allows none', async () => {
  const response = await fetched('/docs');
  const page = await response.text();
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]{44}'/);
  expect(page).not.toContain('<script');
  for (const path of ['/transaction/{txId}/approve', '/personal-access-token/{id}/rotate', '/user/me']) {
    expect(page).toContain(path);
  }
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(style)));
  expect(policy).toContain(`'sha256-${btoa(String.fromCharCode(...digest))}'`);
  expect(page).not.toContain(coordinator.TEST_SERVICE_KEY);
});

/**
 * The status of the response to the example, by the end of the path, where it is not that of a
 * creation.
 */
const ELSEWHERE = [
  ['cancel-by-device', 404],
  ['estimate-fee', 200],
  ['consolidate', 422],
  ['utxos/lock', 422],
  ['utxos/unlock', 204],
  ['notifications/read', 204],
] as const;

interface Documented {
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: { readonly $ref: string } }>>;
  };
}

test('every route with a body has an example, and the service accepts every example unchanged', async () => {
  const { body } = await call('GET /openapi.json');
  const treasury = await foundTreasury({ chains: ['ethereum'], threshold: 1 });
  let shown = 0;
  for (const [path, methods] of Object.entries(body['paths'] as Record<string, Record<string, Documented>>)) {
    for (const [method, { requestBody }] of Object.entries(methods)) {
      if (requestBody?.required !== true) continue;
      const name = requestBody.content['application/json']?.schema.$ref.replace('#/components/schemas/', '') ?? '';
      const examples: readonly object[] = body['components'].schemas[name].examples ?? [];
      expect([path, examples.length > 0]).toEqual([path, true]);
      for (const example of examples) {
        shown += 1;
        const { token } = await anotherToken(treasury.alice);
        const spare = (await anotherToken(treasury.alice)).token.slice(12, 28);
        const transaction = path.includes('{txId}') ? await messageOf(treasury) : '';
        const filled = path
          .replace('{vaultId}', String(treasury.id))
          .replace('{txId}', transaction)
          .replace('{resetId}', 'crs_01J00000000000000000000000')
          .replace('{id}', spare);
        const sent = 'vaultId' in example ? { ...example, vaultId: treasury.id } : example;
        const answer = await call(`${method.toUpperCase()} ${filled}`, { token, body: sent });
        // These tests have no reset that the device of the example could cancel, and no Bitcoin
        // wallet.
        const elsewhere = ELSEWHERE.find(([ending]) => path.endsWith(ending))?.[1] ?? null;
        const creates = method === 'post' && !path.endsWith('verify') && !path.endsWith('policy-comparison');
        const taken = elsewhere ?? (creates ? 201 : 200);
        expect([path, example, answer.status]).toEqual([path, example, taken]);
      }
    }
  }
  expect(shown).toBeGreaterThan(12);
});

/** A message of the caller, because only the creator may hide what no signer has approved. */
async function messageOf({ id: vaultId, alice }: Treasury): Promise<string> {
  const { token } = await anotherToken(alice);
  const created = await call('POST /transaction/message', {
    token,
    body: { vaultId, chain: 'ethereum', message: 'hi' },
  });
  return created.body['id'];
}
