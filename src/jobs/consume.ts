import * as z from 'zod';
import type { TransactionId, VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import { broadcast } from '#jobs/signing/broadcast.ts';
import { confirm } from '#jobs/signing/confirm.ts';
import { storeDeadLetters } from '#jobs/dead-letters.ts';
import { refreshActivity } from '#jobs/refresh-activity.ts';
import { generateVaultKey } from '#jobs/keys/generate-key.ts';
import { refreshVaultKey } from '#jobs/keys/refresh-key.ts';
import { ingest } from '#jobs/ingest-delivery.ts';
import { notificationSubjectOf, notify } from '#jobs/notify.ts';
import { reconcile } from '#jobs/reconcile.ts';
import { runScan } from '#jobs/run-scan.ts';
import { releaseNonce } from '#jobs/signing/release-nonce.ts';
import { adoptPolicy } from '#jobs/keys/adopt-policy.ts';
import { sign, transactionOf } from '#jobs/signing/sign.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { JobMessage } from '#objects/configuration.ts';
import { recordMetric } from '#objects/metrics.ts';
import type { VaultDoors } from '#objects/vault/doors.ts';
import type { QueuedJob } from '#objects/vault/outbox.ts';
import { isQueuedJob } from '#objects/vault/outbox.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import { errorText } from '#store/error-text.ts';

const jobMessage = z.strictObject({
  vaultId: z.int().positive(),
  transactionId: z.string().nullable(),
  job: z.custom<QueuedJob>((value) => typeof value === 'string' && isQueuedJob(value)),
});

const activityMessage = z.union([z.strictObject({ deliveryId: z.string() }), z.strictObject({ scanId: z.string() })]);

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
  const tasks = batch.queue.endsWith('-activity') ? activityIn(batch, env) : jobsIn(batch, env);
  await Promise.all(tasks.map((task) => runGroup(task, env)));
}

function activityIn({ messages }: MessageBatch<unknown>, env: CoordinatorEnv): readonly MessageGroup[] {
  return messages.map((message) => {
    const { data } = activityMessage.safeParse(message.body);
    if (data === undefined) return { name: 'malformed', messages: [message], run: async () => logMalformed(message) };
    return 'scanId' in data
      ? { name: 'scan', messages: [message], run: () => runScan(env, data.scanId) }
      : { name: 'ingest', messages: [message], run: () => ingest(env, data.deliveryId) };
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

interface VaultWork {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly vaultId: VaultId;
}

/** Does a job for the subjects of its messages: several only for notifications. */
type Consumer = (on: VaultWork, subjects: readonly (string | null)[]) => Promise<void>;

const ofVault =
  (run: (env: CoordinatorEnv, vault: VaultDoors, vaultId: VaultId) => Promise<void>): Consumer =>
  ({ env, vault, vaultId }) =>
    run(env, vault, vaultId);

const ofRecord =
  (run: (env: CoordinatorEnv, vault: VaultDoors, id: TransactionId) => Promise<void>): Consumer =>
  async ({ env, vault }, subjects) => {
    for (const id of subjects.flatMap((text) => transactionOf(text) ?? [])) await run(env, vault, id);
  };

const CONSUMERS: Readonly<Record<QueuedJob, Consumer>> = {
  'generate-key': ofVault(generateVaultKey),
  'refresh-key': ofVault(refreshVaultKey),
  'adopt-policy': ofVault(adoptPolicy),
  reconcile: ofVault(reconcile),
  sign: ofRecord(sign),
  broadcast: ofRecord(broadcast),
  confirm: ofRecord(confirm),
  settle: ofRecord(releaseNonce),
  follow: ofRecord(refreshActivity),
  notify: ({ env, vault }, subjects) =>
    notify(
      env,
      vault,
      subjects.flatMap((text) => notificationSubjectOf(text) ?? []),
    ),
};

async function work(
  { vaultId: number, job }: Pick<JobMessage, 'vaultId' | 'job'>,
  subjects: readonly (string | null)[],
  env: CoordinatorEnv,
): Promise<void> {
  const vaultId = parseVaultId(number);
  if (vaultId !== null) await CONSUMERS[job]({ env, vault: vaultStub(env, vaultId), vaultId }, subjects);
}
