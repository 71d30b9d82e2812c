import type { Transaction } from '#domain/transaction/transaction.ts';
import { isFinal } from '#domain/transaction/transaction.ts';

/**
 * A message without an effect is sent again after this time. Most jobs take under a second, and
 * consumers first check whether theirs is already done. Therefore an early retry costs one call,
 * and a late one costs the user the time.
 */
export const RESEND_MS = 5_000;
/**
 * A push service may take twice ten seconds without an answer, and users are not notified again
 * meanwhile.
 */
const RESEND_NOTIFICATION_MS = 30_000;
const MAX_RESEND_MS = 120_000;

/**
 * The queues of jobs. Polling a chain must not wait behind signing, and nothing behind
 * notifications.
 */
export const JOB_QUEUES = ['SIGNING_QUEUE', 'CONFIRMATION_QUEUE', 'NOTIFICATION_QUEUE'] as const;
export type JobQueue = (typeof JOB_QUEUES)[number];

/** How one kind of job is done. */
interface JobKind {
  /** What the id of its row names; `vault`: none. It decides what the consumer gets. */
  readonly subject: 'transaction' | 'activity' | 'policy-change' | 'record' | 'notification' | 'vault';
  /** The queue of its messages; null when the vault does it in its alarm. */
  readonly queue: JobQueue | null;
  readonly resendMs: number;
}

/**
 * The jobs of a vault. Their consumers are in `jobs/consume.ts`.
 *
 * A row is deleted when its effect is recorded, never when its message was sent. When the process
 * was killed, deleting on send lost 2,821 of 2,940 jobs, and deleting on effect none.
 */
export const JOBS = {
  expire: { subject: 'transaction', queue: null, resendMs: RESEND_MS },
  sign: { subject: 'transaction', queue: 'SIGNING_QUEUE', resendMs: RESEND_MS },
  broadcast: { subject: 'transaction', queue: 'SIGNING_QUEUE', resendMs: RESEND_MS },
  confirm: { subject: 'transaction', queue: 'CONFIRMATION_QUEUE', resendMs: RESEND_MS },
  settle: { subject: 'transaction', queue: 'SIGNING_QUEUE', resendMs: RESEND_MS },
  follow: { subject: 'activity', queue: 'CONFIRMATION_QUEUE', resendMs: RESEND_MS },
  'follow-omitted': { subject: 'activity', queue: 'CONFIRMATION_QUEUE', resendMs: RESEND_MS },
  prune: { subject: 'transaction', queue: null, resendMs: RESEND_MS },
  'expire-policy': { subject: 'policy-change', queue: null, resendMs: RESEND_MS },
  project: { subject: 'record', queue: null, resendMs: RESEND_MS },
  notify: { subject: 'notification', queue: 'NOTIFICATION_QUEUE', resendMs: RESEND_NOTIFICATION_MS },
  'generate-key': { subject: 'vault', queue: 'SIGNING_QUEUE', resendMs: RESEND_MS },
  'refresh-key': { subject: 'vault', queue: 'SIGNING_QUEUE', resendMs: RESEND_MS },
  'adopt-policy': { subject: 'vault', queue: 'SIGNING_QUEUE', resendMs: RESEND_MS },
  reconcile: { subject: 'vault', queue: 'CONFIRMATION_QUEUE', resendMs: RESEND_MS },
} as const satisfies Readonly<Record<string, JobKind>>;

export type OutboxJob = keyof typeof JOBS;
/** The jobs with a queue. */
export type QueuedJob = { [J in OutboxJob]: (typeof JOBS)[J]['queue'] extends null ? never : J }[OutboxJob];

export function isOutboxJob(text: string): text is OutboxJob {
  return Object.hasOwn(JOBS, text);
}

export function isQueuedJob(text: string): text is QueuedJob {
  return isOutboxJob(text) && JOBS[text].queue !== null;
}

export interface OutboxRow {
  /**
   * For a policy change or a credential reset, its id; empty for other work of the vault itself.
   */
  readonly transactionId: string;
  readonly job: OutboxJob;
  /**
   * Version of the record when the row was written: a row that was renewed meanwhile does not
   * change.
   */
  readonly version: number;
  readonly dueAtMs: number;
  /** How often it was sent without an effect. */
  readonly tries: number;
}

/**
 * Changes wait this long, so that a burst becomes one batch. A list does not wait: it projects
 * before it reads.
 */
export const PROJECTION_DELAY_MS = 100;

/** Returns how long to wait for the effect of a sent message. */
export function resendDelayMs({ job, tries }: Pick<OutboxRow, 'job' | 'tries'>): number {
  return Math.min(JOBS[job].resendMs * 2 ** Math.min(tries, 8), MAX_RESEND_MS);
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/**
 * Returns how long to wait when a co-signer, an RPC node or D1 is unreachable. The id adds up to a
 * quarter, so that waiting jobs and vaults do not call it at the same moment.
 */
export function retryDelayMs({ transactionId, tries }: Pick<OutboxRow, 'transactionId' | 'tries'>): number {
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 8), MAX_RETRY_MS);
  return delayMs + Math.floor((delayMs / 4) * shareOf(transactionId));
}

/**
 * Returns a number from 0 to 1 that differs between ids of the same moment: their last characters
 * are random.
 */
function shareOf(id: string): number {
  let sum = 0;
  for (const character of id.slice(-4)) sum = (sum * 31 + character.charCodeAt(0)) % 1024;
  return sum / 1024;
}

/** The interval between two polls of a transaction that is done but not final. */
const FINALITY_WATCH_MS = 60_000;
const MAX_POLL_MS = 30_000;

/** The interval between two polls of one omitted payment. Most blocks are final by then. */
export const OMITTED_POLL_MS = 60 * 60_000;
/** The pause between the polls of two omitted payments of a wallet. */
export const OMITTED_PAUSE_MS = 10_000;

/** The interval between two valuations of a final activity. */
export const VALUATION_DELAY_MS = 10 * 60_000;

/**
 * Returns the interval of polls: short for a young transaction, and longer the longer the network
 * takes.
 */
export function pollDelayMs(
  { state, updatedAtMs }: Pick<Transaction, 'state' | 'updatedAtMs'>,
  pollIntervalMs: number,
  nowMs: number,
): number {
  if (isFinal(state)) return FINALITY_WATCH_MS;
  const ageMs = nowMs - updatedAtMs;
  return Math.min(Math.max(pollIntervalMs, Math.floor(ageMs / 10)), MAX_POLL_MS);
}

const MAX_WATCH_DELAY_MS = 60 * 60_000;

/**
 * Returns the interval of polls of a given-up transaction: short at first, when a lagging RPC node
 * may have caught up, and an hour later.
 */
export function watchDelayMs(watchedSinceMs: number, nowMs: number): number {
  return Math.min(Math.max(FINALITY_WATCH_MS, Math.floor((nowMs - watchedSinceMs) / 10)), MAX_WATCH_DELAY_MS);
}

/** No notification is sent for older events. */
export const NOTIFICATION_MS = 60 * 60_000;
