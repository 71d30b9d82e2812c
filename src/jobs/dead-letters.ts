import type { CoordinatorEnv } from '#objects/environment.ts';
import { addDeadLetter } from '#store/dead-letters.ts';

/**
 * Keeps what a queue has given up on where an operator sees it (GET /internal/dead-letter). Nothing is lost by it: the vault
 * still owes the job and sends it again; a row here says that something has failed many times in a row.
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
