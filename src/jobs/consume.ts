import * as z from 'zod';
import type { TransactionId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import { unreachable } from '#domain/result.ts';
import { broadcast } from '#jobs/signing/broadcast.ts';
import { confirm } from '#jobs/signing/confirm.ts';
import { storeDeadLetters } from '#jobs/dead-letters.ts';
import { refreshActivity } from '#jobs/refresh-activity.ts';
import { generateVaultKey } from '#jobs/keys/generate-key.ts';
import { refreshVaultKey } from '#jobs/keys/refresh-key.ts';
import { ingest } from '#jobs/ingest-delivery.ts';
import { notificationSubjectOf, notify } from '#jobs/notify.ts';
import { reconcile } from '#jobs/reconcile.ts';
import { releaseNonce } from '#jobs/signing/release-nonce.ts';
import { adoptPolicy } from '#jobs/keys/adopt-policy.ts';
import { sign, transactionOf } from '#jobs/signing/sign.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { JobMessage } from '#objects/configuration.ts';
import { recordMetric } from '#objects/metrics.ts';
import type { VaultDoors } from '#objects/vault/doors.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import { errorText } from '#store/error-text.ts';

const jobMessage = z.strictObject({
  vaultId: z.int().positive(),
  transactionId: z.string().nullable(),
  job: z.enum([
    'generate-key',
    'refresh-key',
    'adopt-policy',
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

/** The work of one message, or of several together. */
interface MessageGroup {
  readonly name: string;
  readonly messages: readonly Message<unknown>[];
  readonly run: () => Promise<void>;
}

/**
 * Consumes the job queues and their dead-letter queues. A message is a hint that can arrive twice,
 * late or out of order, so each job first checks with the vault whether it is still pending. One
 * message's failure does not affect others, except for the notifications of one vault, whose first
 * delivery is grouped.
 */
export async function consume(batch: MessageBatch<unknown>, env: CoordinatorEnv): Promise<void> {
  if (batch.queue.endsWith('-dead')) return storeDeadLetters(env, batch);
  const tasks = batch.queue.endsWith('-activity') ? deliveriesIn(batch, env) : jobsIn(batch, env);
  await Promise.all(tasks.map((task) => runGroup(task, env)));
}

function deliveriesIn({ messages }: MessageBatch<unknown>, env: CoordinatorEnv): readonly MessageGroup[] {
  return messages.map((message) => {
    const parsed = activityMessage.safeParse(message.body);
    const run = async () => (parsed.success ? ingest(env, parsed.data.deliveryId) : logMalformed(message));
    return { name: 'ingest', messages: [message], run };
  });
}

function jobsIn({ messages }: MessageBatch<unknown>, env: CoordinatorEnv): readonly MessageGroup[] {
  const parsed = messages.map((message) => ({ message, job: jobMessage.safeParse(message.body).data }));
  // Messages that failed together are retried alone, because one of them may be the cause.
  const together = Map.groupBy(parsed, ({ message, job }) =>
    job?.job === 'notify' && message.attempts === 1 ? job.vaultId : message,
  );
  return [...together.values()].map((some) => {
    const jobs = some.flatMap(({ job }) => job ?? []);
    const [job] = jobs;
    const texts = jobs.map(({ transactionId }) => transactionId);
    const run = async () =>
      job === undefined ? some.forEach(({ message }) => logMalformed(message)) : work(job, texts, env);
    return { name: job?.job ?? 'malformed', messages: some.map(({ message }) => message), run };
  });
}

/**
 * No message of this version has this form. It is logged for the operator, because it cannot be
 * processed.
 */
function logMalformed({ id }: Message<unknown>): void {
  console.error(JSON.stringify({ event: 'job-malformed', messageId: id }));
}

async function runGroup({ name, messages, run }: MessageGroup, env: CoordinatorEnv): Promise<void> {
  try {
    await run();
    for (const message of messages) {
      message.ack();
      measureJob(env, message, [name, 'done']);
    }
  } catch (error) {
    for (const message of messages) {
      const { attempts } = message;
      measureJob(env, message, [name, 'failed']);
      console.error(JSON.stringify({ event: 'job-failed', job: name, attempts, error: errorText(error) }));
      message.retry({ delaySeconds: Math.min(2 ** attempts, 60) });
    }
  }
}

function measureJob(
  env: CoordinatorEnv,
  { attempts, timestamp }: Message<unknown>,
  texts: readonly [job: string, outcome: 'done' | 'failed'],
): void {
  recordMetric(env, { kind: 'job', texts, numbers: [attempts, Date.now() - timestamp.getTime()] });
}

/**
 * Runs the job of a message.
 *
 * @param texts the ids that the job is about: several only for notifications, none for a job of the
 * vault itself
 */
async function work(
  { vaultId: number, job }: Pick<JobMessage, 'vaultId' | 'job'>,
  texts: readonly (string | null)[],
  env: CoordinatorEnv,
): Promise<void> {
  const vaultId = parseVaultId(number);
  if (vaultId === null) return;
  const vault = vaultStub(env, vaultId);
  if (job === 'generate-key') return generateVaultKey(env, vault);
  if (job === 'refresh-key') return refreshVaultKey(env, vault);
  if (job === 'adopt-policy') return adoptPolicy(env, vault);
  if (job === 'reconcile') return reconcile(env, vault, vaultId);
  if (job === 'notify')
    return notify(
      env,
      vault,
      texts.flatMap((text) => notificationSubjectOf(text) ?? []),
    );
  for (const id of texts.flatMap((text) => transactionOf(text) ?? [])) await transactionWork(job, { env, vault, id });
}

function transactionWork(
  job: Exclude<JobMessage['job'], 'generate-key' | 'refresh-key' | 'adopt-policy' | 'reconcile' | 'notify'>,
  on: { readonly env: CoordinatorEnv; readonly vault: VaultDoors; readonly id: TransactionId },
): Promise<void> {
  switch (job) {
    case 'sign':
      return sign(on.env, on.vault, on.id);
    case 'broadcast':
      return broadcast(on.env, on.vault, on.id);
    case 'confirm':
      return confirm(on.env, on.vault, on.id);
    case 'settle':
      return releaseNonce(on.env, on.vault, on.id);
    case 'follow':
      return refreshActivity(on.env, on.vault, on.id);
    default:
      return unreachable(job);
  }
}
