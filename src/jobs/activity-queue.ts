import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { inGroups } from '#store/batched-query.ts';
import type { DueDelivery } from '#store/deliveries.ts';
import { delaySecondsTo } from '#store/deliveries.ts';

/** The maximum number of messages that a queue accepts in one call. */
const MAX_MESSAGES = 100;

/** The maximum delay of a message. The sweep sends the message of a later row. */
const MAX_DELAY_SECONDS = 12 * 60 * 60;

/** Sends any number of messages to the activity queue. */
export async function sendActivity(env: CoordinatorEnv, messages: readonly ActivityMessage[]): Promise<void> {
  for (const some of inGroups(messages, MAX_MESSAGES)) {
    await env.ACTIVITY_QUEUE.sendBatch(some.map((body) => ({ body })));
  }
}

/** Sends the messages of deliveries, each to arrive when its delivery is due. */
export async function sendDeliveries(
  env: CoordinatorEnv,
  deliveries: readonly DueDelivery[],
  nowMs: number,
): Promise<void> {
  const messages = deliveries.map(({ id: deliveryId, dueAtMs }) => ({
    body: { deliveryId, dueAtMs },
    delaySeconds: delaySecondsTo(dueAtMs, nowMs),
  }));
  const sent = messages.filter(({ delaySeconds }) => delaySeconds <= MAX_DELAY_SECONDS);
  for (const some of inGroups(sent, MAX_MESSAGES)) await env.ACTIVITY_QUEUE.sendBatch(some);
}
