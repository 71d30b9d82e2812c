import { createExecutionContext, createMessageBatch, getQueueResult } from 'cloudflare:test';
import { consume } from '#jobs/consume.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { coordinator } from '../http/scene.worker.ts';

/**
 * Delivers one batch of a queue to its consumer. Returns how many messages the consumer
 * acknowledged, and how many it returned for a retry.
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
