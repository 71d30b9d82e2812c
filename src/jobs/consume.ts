import * as z from 'zod';
import type { TransactionId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import { unreachable } from '#domain/result.ts';
import { broadcast } from '#jobs/broadcast.ts';
import { confirm } from '#jobs/confirm.ts';
import { bury } from '#jobs/dead-letter.ts';
import { follow } from '#jobs/follow.ts';
import { generateVaultKey } from '#jobs/generate-vault-key.ts';
import { refreshVaultKey } from '#jobs/refresh-vault-key.ts';
import { ingest } from '#jobs/ingest.ts';
import { notify } from '#jobs/notify.ts';
import { reconcile } from '#jobs/reconcile.ts';
import { settle } from '#jobs/settle.ts';
import { sign, transactionOf } from '#jobs/sign.ts';
import type { CoordinatorEnv, JobMessage } from '#objects/environment.ts';
import { measure } from '#objects/metrics.ts';
import type { VaultObject } from '#objects/vault.ts';
import { vaultStub } from '#objects/vault-stub.ts';
import { errorText } from '#store/error-text.ts';

const jobMessage = z.strictObject({
  vaultId: z.int().positive(),
  transactionId: z.string().nullable(),
  job: z.enum([
    'generate-key',
    'refresh-key',
    'sign',
    'broadcast',
    'confirm',
    'settle',
    'follow',
    'reconcile',
    'notify',
  ]),
});

const activityMessage = z.strictObject({ deliveryId: z.string() });

/**
 * Consumes the job queues and their dead-letter queues. A message is a hint that can come twice, late or out of order; each
 * job first asks the vault whether it is still to be done. One message's failure does not touch its neighbours.
 */
export async function consume(batch: MessageBatch<unknown>, env: CoordinatorEnv): Promise<void> {
  if (batch.queue.endsWith('-dead')) {
    await bury(env, batch);
    return;
  }
  const consumed = batch.queue.endsWith('-activity') ? consumeDelivery : consumeOne;
  await Promise.all(batch.messages.map((message) => consumed(message, env)));
}

async function consumeDelivery(message: Message<unknown>, env: CoordinatorEnv): Promise<void> {
  const parsed = activityMessage.safeParse(message.body);
  try {
    if (parsed.success) await ingest(env, parsed.data.deliveryId);
    else console.error(JSON.stringify({ event: 'delivery-malformed', messageId: message.id }));
    message.ack();
    measureJob(env, message, ['ingest', 'done']);
  } catch (error) {
    measureJob(env, message, ['ingest', 'failed']);
    console.error(JSON.stringify({ event: 'delivery-delayed', attempts: message.attempts, error: errorText(error) }));
    message.retry({ delaySeconds: Math.min(2 ** message.attempts, 60) });
  }
}

async function consumeOne(message: Message<unknown>, env: CoordinatorEnv): Promise<void> {
  const parsed = jobMessage.safeParse(message.body);
  const job = parsed.success ? parsed.data.job : null;
  try {
    if (parsed.success) await work(parsed.data, env);
    else console.error(JSON.stringify({ event: 'job-malformed', messageId: message.id }));
    message.ack();
    measureJob(env, message, [job ?? 'malformed', 'done']);
  } catch (error) {
    measureJob(env, message, [job ?? 'malformed', 'failed']);
    console.error(JSON.stringify({ event: 'job-failed', job, attempts: message.attempts, error: errorText(error) }));
    message.retry({ delaySeconds: Math.min(2 ** message.attempts, 60) });
  }
}

function measureJob(
  env: CoordinatorEnv,
  { attempts, timestamp }: Message<unknown>,
  texts: readonly [job: string, outcome: 'done' | 'failed'],
): void {
  measure(env, { kind: 'job', texts, numbers: [attempts, Date.now() - timestamp.getTime()] });
}

async function work(message: JobMessage, env: CoordinatorEnv): Promise<void> {
  const vaultId = parseVaultId(message.vaultId);
  if (vaultId === null) return;
  const vault = vaultStub(env, vaultId);
  if (message.job === 'generate-key') return generateVaultKey(env, vault);
  if (message.job === 'refresh-key') return refreshVaultKey(env, vault);
  if (message.job === 'reconcile') return reconcile(env, vault, vaultId);
  const id = transactionOf(message.transactionId);
  return id === null ? undefined : transactionWork(message.job, { env, vault, id });
}

function transactionWork(
  job: Exclude<JobMessage['job'], 'generate-key' | 'refresh-key' | 'reconcile'>,
  on: { readonly env: CoordinatorEnv; readonly vault: DurableObjectStub<VaultObject>; readonly id: TransactionId },
): Promise<void> {
  switch (job) {
    case 'sign':
      return sign(on.env, on.vault, on.id);
    case 'broadcast':
      return broadcast(on.env, on.vault, on.id);
    case 'confirm':
      return confirm(on.env, on.vault, on.id);
    case 'settle':
      return settle(on.env, on.vault, on.id);
    case 'follow':
      return follow(on.env, on.vault, on.id);
    case 'notify':
      return notify(on.env, on.vault, on.id);
    default:
      return unreachable(job);
  }
}
