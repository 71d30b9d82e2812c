import type { Alert } from '#domain/operations/alert.ts';

/** The queues of the coordinator, each named as its platform queue without the prefix. */
export const QUEUES = ['signing', 'confirmation', 'activity', 'notification'] as const;
export type QueueName = (typeof QUEUES)[number];

/** What the test messages of a queue have found. Times are Unix milliseconds. */
export interface QueueState {
  readonly queue: QueueName;
  /** When the oldest test message that has not come back was sent; null when all have. */
  readonly openSinceMs: number | null;
  /** When the newest one that came back was received; null before the first. */
  readonly returnedAtMs: number | null;
}

const MINUTE_MS = 60_000;
/** An idle queue delivers within seconds. A job of the signing queue takes up to some minutes. */
const STALLED_MS = 5 * MINUTE_MS;

/** Returns an alert for each queue whose messages are not consumed. */
export function alertsOfQueues(queues: readonly QueueState[], nowMs: number): readonly Alert[] {
  return queues.flatMap(({ queue, openSinceMs }) => {
    if (openSinceMs === null || nowMs - openSinceMs < STALLED_MS) return [];
    const minutes = Math.floor((nowMs - openSinceMs) / MINUTE_MS);
    const detail = `A test message waits in the queue ${queue} for ${minutes} minutes.`;
    return [{ code: 'queue-stalled', subject: queue, detail }];
  });
}
