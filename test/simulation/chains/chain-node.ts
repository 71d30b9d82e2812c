import type { ChainApi } from './chain.ts';
import { textSent } from '../platform/clocks.ts';
import type { Schedule } from '../schedule.ts';

/** One node of a chain, which may be some blocks behind, without history, ill, or away. */
export class ChainNode {
  readonly url: string;
  readonly #schedule: Schedule;
  readonly #api: ChainApi;
  readonly #name: string;
  /** Blocks that it has not seen yet. */
  behind = 0;
  /** What it adds to counts of an account's transactions. */
  miscount = 0;
  isUnreachable = false;
  /** It was started from a snapshot. */
  isForgetful = false;

  constructor(schedule: Schedule, name: string, api: ChainApi) {
    this.#schedule = schedule;
    this.#api = api;
    this.#name = name;
    this.url = `http://${name}.test`;
  }

  async serve(path: string, init: RequestInit): Promise<Response> {
    const { behind, miscount, isForgetful } = this;
    const query = () => ({ path, sent: init.body == null ? null : textSent(init), behind, miscount, isForgetful });
    const answered = this.#schedule.call(`${this.#name}.${this.#api.methodOf(query())}`, async () => {
      if (this.isUnreachable) return new Response('upstream is away', { status: 502 });
      // An ill node has its words after the fact as well as before it.
      const illness = this.#schedule.isLuck(this.#schedule.weather.lost) ? this.#schedule.upTo(3) : null;
      if (illness === 0) return new Response('<html>', { status: 200 });
      const answer = await this.#api.answer(query());
      if (illness === 1) return new Response('', { status: 500 });
      return illness === 2 ? this.#api.complaint(query()) : answer;
    });
    const given = new Promise<never>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });
    return Promise.race([answered, given]);
  }
}
