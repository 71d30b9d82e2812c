import { createMessageBatch } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { consume } from '#jobs/consume.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { recordMetric } from '#objects/metrics.ts';
import { call, coordinator, foundTreasury, payment } from '../scene.worker.ts';

/** Returns a data set whose points the test can read. */
function counting() {
  const points: AnalyticsEngineDataPoint[] = [];
  const METRICS: AnalyticsEngineDataset = { writeDataPoint: (point = {}) => void points.push(point) };
  return { points, env: { ...coordinator, METRICS } satisfies CoordinatorEnv };
}

test('every request is counted by route and status, and neither its caller nor its content is recorded', async () => {
  const treasury = await foundTreasury();
  const { points, env } = counting();
  const { token } = treasury.alice;
  expect((await call('POST /transaction/transfer', { token, body: payment(treasury), env })).status).toBe(201);
  expect((await call('GET /transaction/1.01J9ZK0000000000000000000A', { env })).status).toBe(401);
  expect((await call('GET /somewhere', { env })).status).toBe(404);
  expect(points).toEqual([
    { indexes: ['request'], blobs: ['POST', '/transaction/transfer', '201'], doubles: [] },
    { indexes: ['request'], blobs: ['GET', '/transaction/:txId', '401'], doubles: [] },
    { indexes: ['request'], blobs: ['GET', 'none', '404'], doubles: [] },
  ]);
});

test('every job is counted with its outcome, its number of deliveries and its age', async () => {
  const { points, env } = counting();
  const timestamp = new Date(Date.now() - 5_000);
  const batch = createMessageBatch('conclave-signing', [
    { id: 'a', timestamp, attempts: 2, body: { vaultId: 1_000_000, transactionId: null, job: 'generate-key' } },
    { id: 'b', timestamp, attempts: 1, body: 'no message of ours' },
  ]);
  await consume(batch, env);
  expect(points.map(({ indexes, blobs }) => [indexes, blobs])).toEqual([
    [['job'], ['malformed', 'done']],
    [['job'], ['generate-key', 'done']],
  ]);
  const [attempts, ageMs] = points[1]?.doubles ?? [];
  expect(attempts).toBe(2);
  expect(ageMs).toBeGreaterThanOrEqual(5_000);
});

test('a missing or failing data set disturbs no request and no job', async () => {
  const METRICS = {
    writeDataPoint: () => {
      throw new Error('too many');
    },
  };
  recordMetric({ METRICS }, { kind: 'alert', texts: ['late-sweep'] });
  recordMetric({}, { kind: 'alert', texts: ['late-sweep'] });
  expect((await call('GET /health')).status).toBe(200);
});

/** Returns the lines about ordinary work that are logged meanwhile. */
async function linesOf(share: string, run: (env: CoordinatorEnv) => Promise<unknown>) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  await run({ ...coordinator, LOG_SHARE: share });
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
  log.mockRestore();
  return lines;
}

test('each request has one line with route, status and ids, and nothing of its content', async () => {
  const treasury = await foundTreasury();
  const { token, id: userId } = treasury.alice;
  const note = 'a note of the payment';
  const lines = await linesOf('1', async (env) => {
    await call('POST /transaction/transfer', { token, body: { ...payment(treasury), note }, env });
    await call('GET /transaction/1.01J9ZK0000000000000000000A?secret=1', { token, env });
    await call('GET /user/me', { env });
  });
  expect(lines).toEqual([
    {
      event: 'request',
      requestId: expect.any(String),
      method: 'POST',
      route: '/transaction/transfer',
      status: 201,
      ms: expect.any(Number),
      userId,
      tokenId: token.slice(12, 28),
    },
    expect.objectContaining({ route: '/transaction/:txId', status: 403, userId }),
    expect.objectContaining({ status: 401 }),
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/note|secret|service_pat/);
  expect(Object.keys(lines[2] ?? {})).not.toContain('userId');
});

test('a share of 0 leaves the failures of known callers, and without the setting nothing is logged', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const requests = async (env: CoordinatorEnv) => {
    await call('GET /user/me', { token, env });
    await call('GET /transaction/1.01J9ZK0000000000000000000A', { token, env });
    await call('GET /user/me', { env });
  };
  expect((await linesOf('0', requests)).map(({ status }) => status)).toEqual([403]);
  expect(await linesOf('', requests)).toEqual([]);
  expect(await linesOf('often', requests)).toEqual([]);
});

test('each job has one line with its outcome and its ids', async () => {
  const body = { vaultId: 1_000_000, transactionId: null, job: 'generate-key' };
  const batch = createMessageBatch('conclave-signing', [{ id: 'a', timestamp: new Date(), attempts: 2, body }]);
  const lines = await linesOf('1', (env) => consume(batch, env));
  expect(lines).toEqual([
    {
      event: 'job',
      job: 'generate-key',
      outcome: 'done',
      attempts: 2,
      ageMs: expect.any(Number),
      vaultId: 1_000_000,
    },
  ]);
});
