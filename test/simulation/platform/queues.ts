import type { Schedule } from '../schedule.ts';

/** Hands a batch to the Worker's consumer. */
export type Consume = (batch: MessageBatch<unknown>) => Promise<void>;

export interface QueueTerms {
  readonly name: string;
  readonly mostAtOnce: number;
  readonly mostRetries: number;
  /** The dead-letter queue; null for a dead-letter queue itself. */
  readonly deadLetters: SimulatedQueue | null;
  /** Called with each message that the queue accepts. */
  readonly onSend?: (body: unknown) => void;
}

interface Letter {
  readonly id: string;
  readonly body: unknown;
  readonly sentAtMs: number;
  attempts: number;
}

/** A time in milliseconds that no run of a consumer exceeds. */
const MAX_RUN_MS = 15 * 60_000;
const USUAL_DELAY_MS = 50;
const MAX_DELAY_MS = 60_000;
const REDELIVERY_MS = 30_000;

/**
 * A queue with no more than the platform's guarantees: delivery at least once, in any order, and
 * some of it late.
 */
export class SimulatedQueue {
  readonly #schedule: Schedule;
  readonly #consume: Consume;
  readonly #terms: QueueTerms;
  #ready: Letter[] = [];
  #sent = 0;

  constructor(schedule: Schedule, consume: Consume, terms: QueueTerms) {
    this.#schedule = schedule;
    this.#consume = consume;
    this.#terms = terms;
  }

  async send(body: unknown, options: { readonly delaySeconds?: number } = {}): Promise<void> {
    await this.sendBatch([{ body, ...options }]);
  }

  async sendBatch(given: Iterable<{ readonly body: unknown; readonly delaySeconds?: number }>): Promise<void> {
    const messages = structuredClone([...given]);
    await this.#schedule.call(`${this.#terms.name}.send`, () => {
      for (const { body, delaySeconds = 0 } of messages) {
        this.#accept(body, delaySeconds * 1000);
        this.#terms.onSend?.(body);
      }
    });
  }

  #accept(body: unknown, delayMs: number): void {
    const { vanished, doubled } = this.#schedule.weather;
    const letter = { id: `${this.#terms.name}-${++this.#sent}`, body, sentAtMs: this.#schedule.nowMs, attempts: 0 };
    // The platform promises that no message is lost. The simulation loses some, because the vault's
    // alarm must not rely on that promise.
    if (this.#schedule.isLuck(vanished)) {
      this.#schedule.counts.faults++;
      this.#schedule.note(`${letter.id} vanished`);
    } else this.#post(letter, delayMs);
    if (this.#schedule.isLuck(doubled)) {
      this.#schedule.counts.faults++;
      this.#post({ ...letter }, delayMs);
    }
  }

  #post(letter: Letter, delayMs: number): void {
    const { weather } = this.#schedule;
    this.#schedule.messagesUnderWay++;
    const late = this.#schedule.isLuck(weather.slow) ? this.#schedule.upTo(MAX_DELAY_MS) : 0;
    this.#schedule.after(delayMs + late + this.#schedule.upTo(USUAL_DELAY_MS), () => {
      this.#ready.push(letter);
      this.#schedule.after(1, () => void this.#deliver());
    });
  }

  async #deliver(): Promise<void> {
    const letters = this.#ready.slice(0, this.#terms.mostAtOnce);
    this.#ready = this.#ready.slice(letters.length);
    if (letters.length === 0) return;
    const settled = new Set<Letter>();
    const again = new Map<Letter, number>();
    for (const letter of letters) letter.attempts++;
    const messages = letters.map((letter) => ({
      id: letter.id,
      body: structuredClone(letter.body),
      attempts: letter.attempts,
      timestamp: new Date(letter.sentAtMs),
      ack: () => void settled.add(letter),
      retry: ({ delaySeconds = 0 } = {}) => void again.set(letter, delaySeconds * 1000),
    }));
    this.#schedule.note(`${letters.map(({ id, attempts }) => `${id}/${attempts}`).join()} delivered`);
    const batch = { queue: this.#terms.name, messages } as unknown as MessageBatch<unknown>;
    const outcome = await this.#schedule.lifetime(`consumer of ${this.#terms.name}`, async (life) => {
      const forget = this.#schedule.after(MAX_RUN_MS, () => life.end());
      life.onEnd(forget);
      try {
        await this.#consume(batch);
        return 'done';
      } catch {
        return 'failed';
      } finally {
        forget();
      }
    });
    for (const letter of letters) {
      this.#schedule.messagesUnderWay--;
      // Acknowledgements take effect when the consumer ends; a consumer that died acknowledges
      // nothing.
      const isDone = outcome === 'done' ? !again.has(letter) : outcome === 'failed' && settled.has(letter);
      if (!isDone) this.#redeliver(letter, again.get(letter) ?? this.#schedule.upTo(REDELIVERY_MS));
    }
    if (this.#ready.length > 0) this.#schedule.after(1, () => void this.#deliver());
  }

  #redeliver(letter: Letter, delayMs: number): void {
    if (letter.attempts <= this.#terms.mostRetries) this.#post(letter, delayMs);
    else this.#terms.deadLetters?.take(letter);
  }

  take(letter: Letter): void {
    this.#post({ ...letter, attempts: 0 }, 0);
  }
}
