import { createMessageBatch } from 'cloudflare:test';
import { expect, test } from 'vitest';
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
