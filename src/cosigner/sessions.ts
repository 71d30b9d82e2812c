import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Membership } from '#cosigner/membership.ts';
import type { Ledger } from '#cosigner/ledger.ts';
import type { Preparation, Round, Step } from '#cosigner/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Abort } from '#mpc/abort.ts';
import { openEnvelope, sealEnvelope } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { taggedHash } from '#mpc/transcript.ts';

/** What a round answers: sealed envelopes for the peers, or the result. */
export interface RoundAnswer {
  readonly sid: string;
  /** Peer index to base64. */
  readonly envelopes?: Readonly<Record<string, string>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface RoundMessage {
  readonly sid: Uint8Array;
  /** The round that is asked for: 2, 3, ... */
  readonly round: number;
  readonly envelopes: ReadonlyMap<PartyIndex, Uint8Array>;
}

interface Running {
  readonly participants: readonly PartyIndex[];
  round: number;
  next: Round | null;
  /** The request that led to the last answer, and that answer: a lost reply is given again byte for byte. */
  last: { readonly request: string; readonly answer: RoundAnswer } | null;
}

/** Leave for one round; given back when its outcome is written down. */
export type Permit = () => void;

/** More sessions at once than this are a coordinator gone wild; the oldest are forgotten, which only aborts them. */
const MOST_SESSIONS = 64;
const NONCE_BYTES = 32;

export interface SessionsContext {
  readonly membership: Membership;
  readonly ledger: Ledger;
  /** Called before the answer leaves, for a peer that was caught cheating. */
  readonly ban: (abort: Abort) => Promise<void>;
  /** Asked at every round: null when a participant is banned or too many rounds with it are under way. */
  readonly permit: (participants: readonly PartyIndex[]) => Promise<Permit | null>;
}

/**
 * The sessions of one object, in memory only. The rule of all of them: the ledger moves a session on before a round is
 * computed, so no round runs twice; and what is lost with the memory is aborted, never resumed.
 */
export class Sessions {
  readonly #context: SessionsContext;
  readonly #prepared = new Map<string, Preparation>();
  readonly #running = new Map<string, Running>();

  constructor(context: SessionsContext) {
    this.#context = context;
  }

  /** Opens a session: this node's contribution to its name. */
  open(preparation: Preparation): { readonly nonce: string } {
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    remember(this.#prepared, nonce, preparation);
    return { nonce };
  }

  /**
   * Begins the session that the nonces of all participants name, and gives the messages of its first round.
   * Refuses `unknown-session`.
   */
  async start(nonces: ReadonlyMap<PartyIndex, string>): Promise<Result<RoundAnswer, Refused>> {
    const { membership, ledger } = this.#context;
    const own = nonces.get(membership.own.index) ?? '';
    const preparation = this.#prepared.get(own);
    this.#prepared.delete(own);
    if (preparation === undefined || !isComplete(nonces, preparation.participants))
      return refused(refusal('unknown-session'));
    const { participants, purpose, context } = preparation;
    const parts = participants.map((party) => hexToBytes(nonces.get(party) ?? ''));
    const sid = taggedHash(`cosigner/sid/${purpose}`, context, Uint8Array.from(participants), ...parts);
    ledger.openSession(sid);
    const running: Running = { participants, round: 1, next: preparation.begin(sid), last: null };
    remember(this.#running, bytesToHex(sid), running);
    return this.#run(running, { sid, round: 1, envelopes: new Map() });
  }

  /** Refuses, in order: `session-over`, `envelope-refused`, `peer-banned`, `aborted` with the step and whom it blames. */
  async round(message: RoundMessage): Promise<Result<RoundAnswer, Refused>> {
    const sid = bytesToHex(message.sid);
    const running = this.#running.get(sid);
    if (running === undefined) return refused(refusal('session-over'));
    const request = fingerprint(message);
    if (running.last?.request === request) return accepted(running.last.answer);
    return this.#run(running, message);
  }

  async #run(running: Running, message: RoundMessage): Promise<Result<RoundAnswer, Refused>> {
    const inbox = message.round === 1 ? new Map<PartyIndex, Uint8Array>() : await this.#openAll(running, message);
    if (inbox === null) return refused(refusal('envelope-refused'));
    const release = await this.#context.permit(running.participants);
    if (release === null) return this.#end(message, refusal('peer-banned'));
    try {
      return await this.#compute(running, message, inbox);
    } finally {
      release();
    }
  }

  async #compute(
    running: Running,
    message: RoundMessage,
    inbox: ReadonlyMap<PartyIndex, Uint8Array>,
  ): Promise<Result<RoundAnswer, Refused>> {
    const { ledger, ban } = this.#context;
    // The ledger moves first, then the state is used up, and nothing waits in between.
    if (message.round > 1 && (message.round !== running.round + 1 || !ledger.advance(message.sid, message.round))) {
      return this.#end(message, refusal('session-over'));
    }
    const current = running.next;
    running.next = null;
    running.round = message.round;
    if (current === null) return this.#end(message, refusal('session-over'));
    const { step, next } = await current.run(inbox);
    if (step.type === 'abort') {
      if (step.abort.ban) await ban(step.abort);
      return this.#end(message, refusal('aborted', step.abort.step, step.abort.culprit));
    }
    running.next = next;
    const answer = await this.#answer(message, step);
    running.last = { request: fingerprint(message), answer };
    return accepted(answer);
  }

  async #openAll(running: Running, message: RoundMessage): Promise<Map<PartyIndex, Uint8Array> | null> {
    const { own, peers } = this.#context.membership;
    const inbox = new Map<PartyIndex, Uint8Array>();
    for (const party of running.participants) {
      if (party === own.index) continue;
      const peer = peers.get(party);
      const bytes = message.envelopes.get(party);
      if (peer === undefined || bytes === undefined) return null;
      const body = await openEnvelope(own, peer, { sid: message.sid, round: message.round - 1, bytes });
      if (body === null) return null;
      inbox.set(party, body);
    }
    return inbox;
  }

  async #answer(message: RoundMessage, step: Exclude<Step, { type: 'abort' }>): Promise<RoundAnswer> {
    const sid = bytesToHex(message.sid);
    if (step.type === 'result') return { sid, result: step.result };
    const { own, peers } = this.#context.membership;
    const envelopes: Record<string, string> = {};
    for (const [party, body] of step.messages) {
      const peer = peers.get(party);
      if (peer === undefined) throw new Error('a message for a node that is not pinned');
      const sealed = await sealEnvelope(own, peer, { sid: message.sid, round: message.round, body });
      envelopes[String(party)] = Buffer.from(sealed).toString('base64');
    }
    return { sid, envelopes };
  }

  #end(message: RoundMessage, why: Refused): Result<RoundAnswer, Refused> {
    this.#running.delete(bytesToHex(message.sid));
    return refused(why);
  }
}

function isComplete(nonces: ReadonlyMap<PartyIndex, string>, participants: readonly PartyIndex[]): boolean {
  return nonces.size === participants.length && participants.every((party) => nonces.has(party));
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  const oldest = map.keys().next();
  if (map.size >= MOST_SESSIONS && oldest.done !== true) map.delete(oldest.value);
  map.set(key, value);
}

function fingerprint({ sid, round, envelopes }: RoundMessage): string {
  const parts = [...envelopes]
    .toSorted(([a], [b]) => a - b)
    .map(([party, bytes]) => `${party}:${bytesToHex(sha256(bytes))}`);
  return bytesToHex(sha256(utf8ToBytes([bytesToHex(sid), round, ...parts].join())));
}
