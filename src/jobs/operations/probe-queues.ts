import { ALERT_CODES_OF } from '#domain/operations/alert.ts';
import type { QueueName } from '#domain/operations/queue.ts';
import { alertsOfQueues, QUEUES } from '#domain/operations/queue.ts';
import { settle } from '#jobs/operations/alerts.ts';
import type { QueueProbe } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { errorText } from '#store/error-text.ts';
import { closeQueueProbe, openQueueProbes, readQueues } from '#store/operations/queue-probes.ts';

/** A queue without a consumer is an alert within ten minutes, with the five minutes of its rule. */
const EVERY_MS = 3 * 60_000;
const MINUTE_MS = 60_000;

function queueOf(env: CoordinatorEnv, queue: QueueName): Queue<QueueProbe> {
  switch (queue) {
    case 'signing':
      return env.SIGNING_QUEUE;
    case 'confirmation':
      return env.CONFIRMATION_QUEUE;
    case 'activity':
      return env.ACTIVITY_QUEUE;
    case 'notification':
      return env.NOTIFICATION_QUEUE;
  }
}

/**
 * Sends a test message to each queue, and raises the alerts of those from which an earlier one has
 * not come back. Without a consumer a queue takes messages and never reports an error.
 */
export async function probeQueues(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (nowMs % EVERY_MS >= MINUTE_MS) return;
  await settle(env, { codes: ALERT_CODES_OF.queues, found: alertsOfQueues(await readQueues(env.DB), nowMs) }, nowMs);
  // Before the messages: one that comes back at once must find its row.
  await openQueueProbes(env.DB, nowMs);
  await Promise.all(QUEUES.map((probe) => queueOf(env, probe).send({ probe, sentAtMs: nowMs })));
}

/**
 * Records that a test message came back. Never throws: a message that failed would be sent again
 * and in the end become a dead letter, and the next one finds the same.
 */
export async function receiveQueueProbe(env: CoordinatorEnv, { probe, sentAtMs }: QueueProbe): Promise<void> {
  try {
    await closeQueueProbe(env.DB, probe, { sentAtMs, nowMs: Date.now() });
  } catch (error) {
    console.error(JSON.stringify({ event: 'queue-probe-lost', queue: probe, error: errorText(error) }));
  }
}
