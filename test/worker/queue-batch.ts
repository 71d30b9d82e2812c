import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test';
import { consume } from '#jobs/consume.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { coordinator } from '../http/scene.worker.ts';

/**
 * One batch of a queue, as its consumer gets it. Gives of how many messages it said that they are
 * done, or are to come again.
 */
export async function consumed(
  queue: string,
  bodies: readonly unknown[],
  { env = coordinator, attempts = 1 }: { readonly env?: CoordinatorEnv; readonly attempts?: number } = {},
) {
  const messages = bodies.map((body, i) => ({ id: `${queue}-${i}`, timestamp: new Date(1000 + i), attempts, body }));
  const batch = createMessageBatch(queue, messages);
  await consume(batch, env);
  const result = await getQueueResult(batch, createExecutionContext());
  return { acked: result.explicitAcks.length, retried: result.retryMessages.length };
}
