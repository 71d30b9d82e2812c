import type { TransactionJob } from '#domain/transaction/job.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isFinal } from '#domain/transaction/transaction.ts';

/**
 * What a vault still owes the world. A row is deleted when its effect is recorded, never when its message was sent: deleting
 * on send lost 2,821 of 2,940 jobs when the process was killed, deleting on effect none.
 */
export type OutboxJob =
  | TransactionJob
  | 'project'
  | 'generate-key'
  | 'refresh-key'
  | 'expire-policy'
  | 'adopt-policy'
  | 'follow'
  | 'reconcile'
  | 'notify';

export interface OutboxRow {
  /** Of a change of the policy, or of a credential reset, its id; empty for other work of the vault itself. */
  readonly transactionId: string;
  readonly job: OutboxJob;
  /** Version of the record when the row was written: a row that was renewed meanwhile is left alone. */
  readonly version: number;
  readonly dueAtMs: number;
  /** How often it was sent without an effect. */
  readonly tries: number;
}

/** Changes wait this long, so that a burst becomes one batch. A list does not: it projects before it reads. */
export const PROJECTION_DELAY_MS = 100;

/**
 * A sent message without an answer is sent again after this: most jobs take under a second, and consumers find out first
 * whether theirs is already done, so being early costs one question and being late costs the user the time.
 */
export const RESEND_MS = 5_000;
/** A push service may take twice ten seconds to say nothing, and people are not told again meanwhile. */
const RESEND_NOTIFICATION_MS = 30_000;
const MAX_RESEND_MS = 120_000;

/** How long to wait for the effect of a message that has just been sent. */
export function resendDelayMs({ job, tries }: Pick<OutboxRow, 'job' | 'tries'>): number {
  const firstMs = job === 'notify' ? RESEND_NOTIFICATION_MS : RESEND_MS;
  return Math.min(firstMs * 2 ** Math.min(tries, 8), MAX_RESEND_MS);
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/**
 * How long to wait after an answer that said 'not now': a co-signer or a node is away. Up to a quarter longer, by the id, so that all that
 * wait for the same node do not ask it at the same moment.
 */
export function retryDelayMs({ transactionId, tries }: Pick<OutboxRow, 'transactionId' | 'tries'>): number {
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 8), MAX_RETRY_MS);
  return delayMs + Math.floor((delayMs / 4) * shareOf(transactionId));
}

/** A number from 0 to 1 that ids of the same moment differ in: their last characters are drawn at random. */
function shareOf(id: string): number {
  let sum = 0;
  for (const character of id.slice(-4)) sum = (sum * 31 + character.charCodeAt(0)) % 1024;
  return sum / 1024;
}

/** Between two looks at a transaction that is done but not beyond a reorganisation. */
const FINALITY_WATCH_MS = 60_000;
const MAX_POLL_MS = 30_000;

/** Between two questions for the price of what is final already. */
export const VALUATION_DELAY_MS = 10 * 60_000;

/** Looks often while it is young, and less often the longer the network takes. */
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

/** Between two looks at what was given up: often at first, when a node that lagged may have caught up, and each hour later. */
export function watchDelayMs(watchedSinceMs: number, nowMs: number): number {
  return Math.min(Math.max(FINALITY_WATCH_MS, Math.floor((nowMs - watchedSinceMs) / 10)), MAX_WATCH_DELAY_MS);
}

/** What is older is no news any more: nobody is woken for it. */
export const NOTIFICATION_MS = 60 * 60_000;
