import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { inGroups } from '#store/batched-query.ts';

/** The maximum number of messages that a queue accepts in one call. */
const MAX_MESSAGES = 100;

/** Sends any number of messages to the activity queue. */
export async function sendActivity(env: CoordinatorEnv, messages: readonly ActivityMessage[]): Promise<void> {
  for (const some of inGroups(messages, MAX_MESSAGES)) {
    await env.ACTIVITY_QUEUE.sendBatch(some.map((body) => ({ body })));
  }
}
