import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { addDeadLetter } from '#store/operations/dead-letters.ts';

/**
 * Stores a message that a queue has given up on, so that an operator can read it (GET
 * /internal/dead-letter). This loses nothing: the vault's outbox still has the job and sends it
 * again. A row here shows that a job has failed many times in a row.
 */
export async function storeDeadLetters(env: CoordinatorEnv, batch: MessageBatch<unknown>): Promise<void> {
  for (const message of batch.messages) {
    console.error(JSON.stringify({ event: 'dead-letter', queue: batch.queue, messageId: message.id }));
    await addDeadLetter(env.DB, {
      id: message.id,
      queue: batch.queue,
      body: JSON.stringify(message.body),
      atMs: message.timestamp.getTime(),
    });
    message.ack();
  }
}
