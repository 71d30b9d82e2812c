import type { ChainApi, Query, SimulatedChain } from './chain.ts';
import type { FalseAnswer, Lie } from './lies.ts';
import { isFalseAnswer, SWALLOWED } from './lies.ts';
import { textSent } from '../platform/clocks.ts';
import type { Schedule } from '../schedule.ts';

const FALSE_COUNT = 1_000;
/** The methods that send a transaction, by the names of `ChainApi`. */
const BROADCASTS = new Set(['eth_sendRawTransaction', 'sendTransaction', 'tx']);

/**
 * One RPC node, which may be some blocks behind, without transaction history, failing, lying, or
 * unreachable.
 */
export class ChainNode {
  readonly url: string;
  readonly chain: SimulatedChain;
  readonly #schedule: Schedule;
  readonly #api: ChainApi;
  readonly #name: string;
  /** The number of newest blocks that the RPC node does not have yet. */
  behind = 0;
  /** The number that the RPC node adds to the transaction count of an account. */
  miscount = 0;
  isUnreachable = false;
  /** The RPC node leaves each of this many calls unanswered; 0 for none. */
  failsEach = 0;
  #calls = 0;
  /** True when the RPC node was started from a snapshot, without transaction history. */
  isForgetful = false;
  lie: Lie | null = null;
  /** The transactions that the RPC node has accepted and not relayed. */
  readonly #held = new Set<string>();
  /** The calls that sent them, oldest first, while the RPC node does not show them. */
  readonly #swallowed: Query[] = [];

  constructor(
    schedule: Schedule,
    name: string,
    { chain, api }: { readonly chain: SimulatedChain; readonly api: ChainApi },
  ) {
    this.chain = chain;
    this.#schedule = schedule;
    this.#api = api;
    this.#name = name;
    this.url = `https://${name}.test`;
  }

  /** The number of blocks mined since the RPC node began to flicker. */
  #flickers = 0;

  #answers(): FalseAnswer | null {
    if (this.lie === 'flickering') return this.#flickers % 2 === 0 ? 'false-inclusion' : null;
    return isFalseAnswer(this.lie) ? this.lie : null;
  }

  /** Called before each block while the RPC node lies. */
  onPassBy: () => void = () => {};

  /** Called when a block is mined. An RPC node that stands still does not get the block. */
  passBy(): void {
    this.onPassBy();
    if (this.lie === 'standing-still') this.behind++;
    if (this.lie === 'flickering') this.#flickers++;
  }

  /** Makes the RPC node honest and complete from now on. */
  recover(): void {
    this.onPassBy = () => {};
    this.#held.clear();
    Object.assign(this, { behind: 0, miscount: 0, failsEach: 0, isUnreachable: false, isForgetful: false, lie: null });
  }

  /**
   * Relays the first transaction that the RPC node has swallowed: a payment, and not the
   * cancellation that followed it.
   */
  async release(): Promise<void> {
    const [first] = this.#swallowed.splice(0);
    if (first !== undefined) await this.#api.answer({ ...first, lie: null });
  }

  async serve(path: string, init: RequestInit): Promise<Response> {
    const { behind } = this;
    const lie = this.#answers();
    const miscount = this.lie === 'false-count' ? FALSE_COUNT : this.miscount;
    const isForgetful = this.lie === 'history-lost' || this.isForgetful;
    const condition = { behind, miscount, isForgetful, lie, held: this.#held };
    const query = () => ({ path, sent: init.body == null ? null : textSent(init), ...condition });
    const answered = this.#schedule.call(`${this.#name}.${this.#api.methodOf(query())}`, async () => {
      const isLeft = this.failsEach > 0 && ++this.#calls % this.failsEach === 0;
      if (isLeft || this.isUnreachable || this.lie === 'silence')
        return new Response('upstream is away', { status: 502 });
      // A failing RPC node returns its error either before or after it has carried out the request.
      const illness = this.#schedule.isLuck(this.#schedule.weather.lost) ? this.#schedule.upTo(3) : null;
      if (illness === 0) return new Response('<html>', { status: 200 });
      const isSwallowed = this.lie === SWALLOWED && BROADCASTS.has(this.#api.methodOf(query()));
      if (isSwallowed) this.#swallowed.push(query());
      const answer = await this.#api.answer(isSwallowed ? { ...query(), lie: 'unrelayed' } : query());
      if (illness === 1) return new Response('', { status: 500 });
      return illness === 2 ? this.#api.complaint(query()) : answer;
    });
    const given = new Promise<never>((_, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error));
    });
    return Promise.race([answered, given]);
  }
}
