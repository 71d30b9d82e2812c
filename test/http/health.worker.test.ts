import { beforeEach, expect, test, vi } from 'vitest';
import type { AlertCode } from '#domain/operations/alert.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { addAlert } from '#store/operations/alerts.ts';
import { storeSweepEnd } from '#store/operations/sweep-runs.ts';
import { asService, call, coordinator } from './scene.worker.ts';

/** Covers readiness, which anyone can request, and the acknowledgement of alerts. */

const { DB } = coordinator;

beforeEach(async () => {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  await DB.batch(['alerts', 'sweep_runs'].map((table) => DB.prepare(`DELETE FROM ${table}`)));
});

const raise = (code: AlertCode, subject?: string) =>
  addAlert(DB, { code, detail: 'secret detail', ...(subject === undefined ? {} : { subject }) }, Date.now());

async function readiness(env: CoordinatorEnv = coordinator) {
  const { status, body } = await call('GET /health/ready', { env });
  expect(JSON.stringify(body)).not.toContain('secret');
  return [status, body['codes'] ?? body['status']];
}

test('the service is ready while sweeps run and no alert stops payments', async () => {
  expect(await readiness()).toEqual([503, ['late-sweep']]);
  await storeSweepEnd(DB, Date.now() - 11 * 60_000);
  expect(await readiness()).toEqual([503, ['late-sweep']]);
  await storeSweepEnd(DB, Date.now() - 60_000);
  expect(await readiness()).toEqual([200, 'ready']);
  await raise('single-rpc-node', 'anvil');
  expect(await readiness()).toEqual([200, 'ready']);
  await raise('share-unreadable', '2');
  await raise('share-unreadable', '3');
  expect(await readiness()).toEqual([503, ['share-unreadable']]);
});

test('the service is not ready with a wrong setting, which is not named, and without D1', async () => {
  await storeSweepEnd(DB, Date.now());
  expect(await readiness({ ...coordinator, LOGIN: 'secret' })).toEqual([503, ['setting-invalid']]);
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const failing = {
    prepare: () => {
      throw new Error('D1_ERROR: no such table: alerts');
    },
  } as unknown as D1Database;
  expect(await readiness({ ...coordinator, DB: failing })).toEqual([503, ['database-unavailable']]);
  expect(String(log.mock.calls[0]?.[0])).toContain('readiness-unknown');
  log.mockRestore();
});

test('an operator acknowledges an open alert by its id, and the status shows since when', async () => {
  await raise('share-unreadable', '2');
  await raise('trace-unavailable', 'anvil node.test');
  const acknowledge = (id: string) => asService('POST /internal/alert/acknowledge', { id });
  const first = await acknowledge('trace-unavailable:anvil node.test');
  expect([first.status, first.body['code'], first.body['acknowledgedAt']]).toEqual([
    200,
    'trace-unavailable',
    expect.stringMatching(/Z$/),
  ]);
  const again = await acknowledge('trace-unavailable:anvil node.test');
  expect(again.body).toEqual(first.body);
  const unknown = await acknowledge('share-unreadable:9');
  expect([unknown.status, unknown.body['code']]).toEqual([404, 'alert-not-open']);
  const { body } = await asService('GET /internal/status');
  // The co-signers of these tests do not answer, so the alert of their shares is not current.
  const ids = body['attention'].map(({ id, since, acknowledgedAt }: Record<string, string | null>) => [
    id,
    since !== null,
    acknowledgedAt !== null,
  ]);
  expect(ids).toContainEqual(['trace-unavailable:anvil node.test', true, true]);
  expect(ids).toContainEqual(['cosigner-away:1', false, false]);
});

test('the metrics are text for a service key alone', async () => {
  const { status, headers, body } = await asService('GET /internal/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(body).toContain('conclave_cosigner_up{node="1"} 0\n');
  expect((await call('GET /internal/metrics')).status).toBe(401);
});

test('requests for readiness count against the address, because each one reads D1', async () => {
  const SHIELD = { limit: async () => ({ success: false }) };
  const { status, body } = await call('GET /health/ready', { env: { ...coordinator, SHIELD } });
  expect([status, body['code']]).toEqual([429, 'quota-exceeded']);
});
