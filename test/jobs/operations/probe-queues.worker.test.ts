import { beforeEach, expect, test, vi } from 'vitest';
import { QUEUES } from '#domain/operations/queue.ts';
import { consume } from '#jobs/consume.ts';
import { probeQueues } from '#jobs/operations/probe-queues.ts';
import type { QueueProbe } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { readOpenAlerts } from '#store/operations/alerts.ts';
import { readQueues } from '#store/operations/queue-probes.ts';
import { asService, coordinator } from '../../http/scene.worker.ts';

/** Covers that a queue whose messages are not consumed is found, also while the service is idle. */

const { DB } = coordinator;
const MINUTE_MS = 60_000;
const START_MS = 180_000 * 10_000_000;

beforeEach(async () => {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  await DB.batch(['alerts', 'queue_probes'].map((table) => DB.prepare(`DELETE FROM ${table}`)));
});

/** Queues of which each holds its messages until they are delivered. */
function queues() {
  const held = new Map<string, QueueProbe[]>(QUEUES.map((name) => [name, []]));
  const queueOf = (name: string) => ({ send: async (body: QueueProbe) => void held.get(name)?.push(body) });
  const bindings = Object.fromEntries(QUEUES.map((name) => [`${name.toUpperCase()}_QUEUE`, queueOf(name)]));
  const env = { ...coordinator, ...bindings } as unknown as CoordinatorEnv;
  const outcomes: string[] = [];
  const deliver = async (name: string, from: Partial<CoordinatorEnv> = {}) => {
    const bodies = held.get(name)?.splice(0) ?? [];
    const messages = bodies.map((body) => ({
      body,
      id: 'm',
      timestamp: new Date(),
      attempts: 1,
      ack: () => void outcomes.push('ack'),
      retry: () => void outcomes.push('retry'),
    }));
    const batch = { queue: `conclave-${name}`, messages } as unknown as MessageBatch<unknown>;
    await consume(batch, { ...env, ...from });
    return bodies;
  };
  return { env, deliver, held, outcomes };
}

const open = async () =>
  (await readQueues(DB)).flatMap(({ queue, openSinceMs }) => (openSinceMs === null ? [] : [queue])).toSorted();
const alerts = async () => (await readOpenAlerts(DB)).map(({ id }) => id);

test('a queue without a consumer is an alert within ten minutes, and over when it has one again', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { env, deliver } = queues();
  const raised: [minute: number, ids: readonly string[]][] = [];
  for (let minute = 0; minute < 20; minute++) {
    // The consumer of the signing queue is missing from minute 1 on, just after a message, to 15.
    await probeQueues(env, START_MS + minute * MINUTE_MS);
    for (const queue of QUEUES) if (queue !== 'signing' || minute < 1 || minute >= 15) await deliver(queue);
    raised.push([minute, await alerts()]);
  }
  log.mockRestore();
  const during = raised.flatMap(([minute, ids]) => (ids.length === 0 ? [] : [minute]));
  expect(raised.flatMap(([, ids]) => ids)).toEqual(during.map(() => 'queue-stalled:signing'));
  expect([during[0], during.at(-1)]).toEqual([9, 17]);
  expect(await open()).toEqual([]);
});

test('each queue gets a message in one of three minutes', async () => {
  const { env, held } = queues();
  for (let minute = 0; minute < 6; minute++) await probeQueues(env, START_MS + minute * MINUTE_MS);
  expect([...held.values()].map((bodies) => bodies.map(({ sentAtMs }) => (sentAtMs - START_MS) / MINUTE_MS))).toEqual(
    QUEUES.map(() => [0, 3]),
  );
});

test('a message that comes twice, or late, answers for no later one', async () => {
  const { env, deliver, held } = queues();
  await probeQueues(env, START_MS);
  const first = await deliver('activity');
  await probeQueues(env, START_MS + 3 * MINUTE_MS);
  const second = held.get('activity')?.splice(0) ?? [];
  held.get('activity')?.push(...first);
  await deliver('activity');
  expect(await open()).toContain('activity');
  held.get('activity')?.push(...second);
  await deliver('activity');
  expect(await open()).not.toContain('activity');
});

test('while D1 is away a message is neither repeated nor a dead letter', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { env, deliver, outcomes } = queues();
  await probeQueues(env, START_MS);
  const failing = {
    prepare: () => {
      throw new Error('D1_ERROR: no such table: queue_probes');
    },
  };
  await deliver('signing', { DB: failing as unknown as D1Database });
  log.mockRestore();
  expect(outcomes).toEqual(['ack']);
  expect(await open()).toContain('signing');
});
