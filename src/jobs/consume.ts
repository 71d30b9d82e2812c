import * as z from 'zod';
import type { TransactionId, VaultId } from '#domain/id.ts';
import { parseCredentialResetId, parsePolicyChangeId, parseTokenId, parseTransactionId } from '#domain/id.ts';
import { QUEUES } from '#domain/operations/queue.ts';
import { receiveQueueProbe } from '#jobs/operations/probe-queues.ts';
import { broadcast } from '#jobs/signing/broadcast.ts';
import { confirm } from '#jobs/signing/confirm.ts';
import { storeDeadLetters } from '#jobs/dead-letters.ts';
import { refreshActivity } from '#jobs/refresh-activity.ts';
import { generateVaultKey } from '#jobs/keys/generate-key.ts';
import { refreshVaultKey } from '#jobs/keys/refresh-key.ts';
import { ingest } from '#jobs/ingest-delivery.ts';
import { notify, notifyOwner } from '#jobs/notify.ts';
import { reconcile } from '#jobs/reconcile.ts';
import { runScan } from '#jobs/run-scan.ts';
import { releaseNonce } from '#jobs/signing/release-nonce.ts';
import { adoptPolicy } from '#jobs/keys/adopt-policy.ts';
import { sign } from '#jobs/signing/sign.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { isLogged, logLine } from '#store/operations/log-line.ts';
import { recordMetric } from '#objects/metrics.ts';
import type { NotificationSubjectId } from '#objects/vault/commands/notifications.ts';
import { vaultId as vaultIdField } from '#objects/vault/documents/fields.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { QueuedJob } from '#objects/outbox.ts';
import { isQueuedJob, JOBS } from '#objects/outbox.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { parsed } from '#store/document.ts';
import { errorText } from '#store/error-text.ts';

const jobMessage = z.strictObject({
  vaultId: vaultIdField,
  transactionId: z.string().nullable(),
  job: z.custom<QueuedJob>((value) => typeof value === 'string' && isQueuedJob(value)),
});

const ownerMessage = z.strictObject({ tokenId: parsed(parseTokenId) });

const activityMessage = z.union([
  z.strictObject({ deliveryId: z.string(), dueAtMs: z.int().exactOptional() }),
  z.strictObject({ scanId: z.string() }),
]);

const probeMessage = z.strictObject({ probe: z.enum(QUEUES), sentAtMs: z.int() });

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
  const probes = batch.messages.flatMap((message) => ofProbe(message, env) ?? []);
  const tested = new Set(probes.flatMap(({ messages }) => messages));
  const others = batch.messages.filter((message) => !tested.has(message));
  const tasks = batch.queue.endsWith('-activity') ? activityIn(others, env) : jobsIn(others, env);
  await Promise.all([...probes, ...tasks].map((task) => runGroup(task, env)));
}

/** Returns the work of a test message, or null for another message. */
function ofProbe(message: Message<unknown>, env: CoordinatorEnv): MessageGroup | null {
  const { data } = probeMessage.safeParse(message.body);
  return data === undefined ? null : { name: 'probe', messages: [message], run: () => receiveQueueProbe(env, data) };
}

function activityIn(messages: readonly Message<unknown>[], env: CoordinatorEnv): readonly MessageGroup[] {
  return messages.map((message) => {
    const { data } = activityMessage.safeParse(message.body);
    if (data === undefined) return malformed(message);
    return 'scanId' in data
      ? { name: 'scan', messages: [message], run: () => runScan(env, data.scanId) }
      : { name: 'ingest', messages: [message], run: () => ingest(env, data) };
  });
}

function jobsIn(messages: readonly Message<unknown>[], env: CoordinatorEnv): readonly MessageGroup[] {
  const read = messages.map((message) => ({ message, job: jobMessage.safeParse(message.body).data }));
  // Messages that failed together are retried alone, because one of them may be the cause.
  const together = Map.groupBy(read, ({ message, job }) =>
    job !== undefined && JOBS[job.job].subject === 'notification' && message.attempts === 1 ? job.vaultId : message,
  );
  return [...together.values()].flatMap((some) => {
    const [first] = some;
    if (first?.job === undefined) return some.map(({ message }) => ofOwner(message, env) ?? malformed(message));
    const { job, vaultId } = first.job;
    const ids = some.flatMap((one) => one.job?.transactionId ?? []);
    const run = () => work([job, JOBS[job].subject], { ids, vaultId, env });
    return [{ name: job, messages: some.map(({ message }) => message), run }];
  });
}

/** Returns the work of a message about an access token, or null for another message. */
function ofOwner(message: Message<unknown>, env: CoordinatorEnv): MessageGroup | null {
  const { data } = ownerMessage.safeParse(message.body);
  return data === undefined
    ? null
    : { name: 'notify-owner', messages: [message], run: () => notifyOwner(env, data.tokenId) };
}

/**
 * No message of this version has this form. It is logged for the operator, because it cannot be
 * processed.
 */
function malformed(message: Message<unknown>): MessageGroup {
  const run = async () => console.error(JSON.stringify({ event: 'job-malformed', messageId: message.id }));
  return { name: 'malformed', messages: [message], run };
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
  { attempts, timestamp, body }: Message<unknown>,
  texts: readonly [job: string, outcome: 'done' | 'failed'],
): void {
  const ageMs = Date.now() - timestamp.getTime();
  recordMetric(env, { kind: 'job', texts, numbers: [attempts, ageMs] });
  const [job, outcome] = texts;
  if (isLogged(env)) logLine({ event: 'job', job, outcome, attempts, ageMs, ...idsIn(body) });
}

/** Returns the ids of a message, for its log line. */
function idsIn(body: unknown) {
  const { vaultId, transactionId } = jobMessage.safeParse(body).data ?? {};
  return { vaultId, transactionId: transactionId ?? undefined };
}

/** What a handler gets, by the subject of its job in the table of jobs. */
interface Subjects {
  readonly vault: VaultId;
  readonly transaction: TransactionId;
  readonly activity: TransactionId;
  readonly notification: readonly NotificationSubjectId[];
}

type SubjectOf<J extends QueuedJob> = Subjects[(typeof JOBS)[J]['subject']];

/** The handler of each job, typed by its subject. */
const CONSUMERS: {
  readonly [J in QueuedJob]: (env: CoordinatorEnv, vault: VaultDoors, subject: SubjectOf<J>) => Promise<void>;
} = {
  'generate-key': generateVaultKey,
  'refresh-key': refreshVaultKey,
  'adopt-policy': adoptPolicy,
  reconcile,
  sign,
  broadcast,
  confirm,
  settle: releaseNonce,
  follow: refreshActivity,
  'follow-omitted': refreshActivity,
  notify,
};

/** The subjects that the ids of messages name, each for one call of the handler. */
const SUBJECTS_IN: {
  readonly [S in keyof Subjects]: (ids: readonly string[], vaultId: VaultId) => readonly Subjects[S][];
} = {
  vault: (_, vaultId) => [vaultId],
  transaction: transactionsIn,
  activity: transactionsIn,
  notification: (ids) => [
    ids.flatMap((id) => parseCredentialResetId(id) ?? parsePolicyChangeId(id) ?? parseTransactionId(id) ?? []),
  ],
};

/** Leaves out an id that no version of this service has sent. */
function transactionsIn(ids: readonly string[]): readonly TransactionId[] {
  return ids.flatMap((id) => parseTransactionId(id) ?? []);
}

/** Calls the handler of a job for every subject of its messages. */
async function work<J extends QueuedJob>(
  [job, subject]: readonly [J, (typeof JOBS)[J]['subject']],
  { ids, vaultId, env }: { readonly ids: readonly string[]; readonly vaultId: VaultId; readonly env: CoordinatorEnv },
): Promise<void> {
  const vault = vaultStub(env, vaultId);
  for (const one of SUBJECTS_IN[subject](ids, vaultId)) await CONSUMERS[job](env, vault, one);
}
