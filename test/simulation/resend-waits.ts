import type { JobMessage } from '#objects/configuration.ts';
import type { Database } from '../objects/memory-sql.ts';
import type { Schedule } from './schedule.ts';

interface SentRow {
  readonly tx_id: string;
  readonly job: string;
  readonly version: number;
  readonly tries: number;
  readonly due_at_ms: number;
}

/**
 * Measures the simulated time in which nothing but a resend timer is awaited: a row of the vault's
 * outbox is as it was when its message was sent, and no message is in a queue or with a consumer.
 * Such a wait is right where something was lost or refused, and a fault elsewhere.
 */
export class ResendWaits {
  readonly #db: () => Database;
  /** The row of each job as its message left it. */
  readonly #sent = new Map<string, string>();
  #isStarted = false;
  totalMs = 0;

  constructor(schedule: Schedule, db: () => Database) {
    this.#db = db;
    schedule.onPause = (pauseMs) => {
      if (this.#isStarted && schedule.messagesUnderWay === 0 && this.#isAwaited()) this.totalMs += pauseMs;
    };
  }

  /** From here on the time counts. */
  start(): void {
    this.#isStarted = true;
  }

  /** A queue has taken the message of a job. */
  sent({ transactionId, job }: JobMessage): void {
    if (!this.#isStarted) return;
    const row = this.#rows().find((one) => one.tx_id === (transactionId ?? '') && one.job === job);
    if (row !== undefined) this.#sent.set(nameOf(row), stateOf(row));
  }

  #isAwaited(): boolean {
    return this.#rows().some((row) => this.#sent.get(nameOf(row)) === stateOf(row));
  }

  #rows(): readonly SentRow[] {
    const query = 'SELECT tx_id, job, version, tries, due_at_ms FROM outbox WHERE tries > 0';
    return this.#db().run(query, []).rows as readonly SentRow[];
  }
}

function nameOf({ tx_id, job }: SentRow): string {
  return `${tx_id} ${job}`;
}

function stateOf({ version, tries, due_at_ms }: SentRow): string {
  return `${version} ${tries} ${due_at_ms}`;
}
