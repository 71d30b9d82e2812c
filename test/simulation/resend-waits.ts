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
 * Measures the simulated time in which the service only waits for a resend timer: a row of the
 * vault's outbox is unchanged since its message was sent, and no message is in a queue or with a
 * consumer. Such a wait is correct after a lost or refused message, and a fault otherwise.
 */
export class ResendWaits {
  readonly #db: () => Database;
  /** The row of each job when its last message was sent. */
  readonly #sent = new Map<string, string>();
  #isStarted = false;
  totalMs = 0;

  constructor(schedule: Schedule, db: () => Database) {
    this.#db = db;
    schedule.onPause = (pauseMs) => {
      if (this.#isStarted && schedule.messagesUnderWay === 0 && this.#isAwaited()) this.totalMs += pauseMs;
    };
  }

  /** Starts to measure. */
  start(): void {
    this.#isStarted = true;
  }

  /** Records that a queue has accepted the message of a job. */
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
