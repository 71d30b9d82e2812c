import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { Membership } from '#cosigner/membership.ts';
import type { Ledger } from '#cosigner/ledger.ts';
import type { Inbox, Preparation, Round, Step } from '#cosigner/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { base64Of } from '#cosigner/wire.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { type Abort, blamed } from '#mpc/abort.ts';
import { openEnvelope, sealEnvelope, signAsNode, verifyAsNode } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';

/** What an opening answers. */
interface OpeningAnswer {
  /** Hex, 32 bytes. */
  readonly nonce: string;
  /** Base64: what the node tells all participants, and its signature; absent where the protocol has nothing of the kind. */
  readonly opening?: string;
}

/** What a session begins with: the answers to all openings, by the node that gave them. */
interface Invitation {
  readonly nonces: ReadonlyMap<PartyIndex, string>;
  readonly openings: ReadonlyMap<PartyIndex, Uint8Array>;
  /** Of co-signers that do not take part: see receipt.ts. */
  readonly receipts: ReadonlyMap<PartyIndex, Uint8Array>;
}

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

interface Running extends Pick<Preparation, 'participants' | 'isRationed'> {
  round: number;
  next: Round | null;
  /**
   * The request that led to the last answer, and that answer: a lost reply is given again byte for byte. Kept as it came: a hash of it
   * would cost more than the rest of the round.
   */
  last: { readonly request: RoundMessage; readonly answer: RoundAnswer } | null;
}

/** Leave for one round; given back when its outcome is written down. */
export type Permit = () => void;

/** More sessions at once than this are a coordinator gone wild; the oldest are forgotten, which only aborts them. */
const MOST_SESSIONS = 64;
const NONCE_BYTES = 32;
const SIGNATURE_BYTES = 64;

export interface SessionsContext {
  readonly membership: Membership;
  readonly ledger: Ledger;
  /** Called before the answer leaves, for a peer that was caught cheating. */
  readonly ban: (abort: Abort) => Promise<void>;
  /** Asked at every round of a protocol that is rationed and takes messages: null when a participant is banned or too many rounds with it are under way. */
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

  /** Opens a session: this node's contribution to its name, and what it tells the others with it. */
  async open(preparation: Preparation): Promise<OpeningAnswer> {
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    const signed = await this.#signedOpening(preparation, nonce);
    remember(this.#prepared, nonce, preparation);
    return signed === null ? { nonce } : { nonce, opening: base64Of(signed) };
  }

  /**
   * Begins the session that the nonces and openings of all participants name, and gives the messages of its first round.
   * Refuses, in order: `unknown-session`, `envelope-refused` (an opening that its node has not signed for this session), what the
   * preparation does not admit, `aborted`.
   */
  async start(invitation: Invitation): Promise<Result<RoundAnswer, Refused>> {
    const { membership, ledger } = this.#context;
    const { nonces } = invitation;
    const own = nonces.get(membership.own.index) ?? '';
    const preparation = this.#prepared.get(own);
    this.#prepared.delete(own);
    if (preparation === undefined || !isComplete(nonces, preparation.participants))
      return refused(refusal('unknown-session'));
    const openings = await this.#openingsOf(preparation, invitation);
    if (openings === null) return refused(refusal('envelope-refused'));
    const unfit = (await preparation.admit?.(invitation.receipts)) ?? null;
    if (unfit !== null) return refused(unfit);
    const { participants, isRationed } = preparation;
    const sid = sessionId(preparation, nonces, openings);
    ledger.openSession(sid, Date.now());
    const running: Running = { participants, isRationed, round: 1, next: preparation.begin(sid), last: null };
    remember(this.#running, bytesToHex(sid), running);
    // It answers nobody's message yet, so that there is nothing to ration.
    return this.#compute(running, { sid, round: 1, envelopes: new Map() }, openings);
  }

  /** The opening with this node's signature behind it: a coordinator that changes one must not make a cheater of an honest node. */
  async #signedOpening(preparation: Preparation, nonce: string): Promise<Uint8Array | null> {
    const { opening } = preparation;
    if (opening === null) return null;
    const { own } = this.#context.membership;
    return concatBytes(opening, await signAsNode(own, openingStatement(preparation, own.index, { nonce, opening })));
  }

  /** What all participants have told, this node itself by its own word; null where one of the others has not signed it. */
  async #openingsOf(preparation: Preparation, { nonces, openings }: Invitation): Promise<Inbox | null> {
    const { own, peers: pinned } = this.#context.membership;
    if (preparation.opening === null) return new Map();
    const all = new Map([[own.index, preparation.opening]]);
    for (const party of preparation.participants) {
      if (party === own.index) continue;
      const [peer, bytes, nonce] = [pinned.get(party), openings.get(party), nonces.get(party)];
      if (peer === undefined || bytes === undefined || nonce === undefined) return null;
      const [opening, signature] = [bytes.slice(0, -SIGNATURE_BYTES), bytes.slice(-SIGNATURE_BYTES)];
      const statement = openingStatement(preparation, party, { nonce, opening });
      if (!(await verifyAsNode(peer, statement, signature))) return null;
      all.set(party, opening);
    }
    return all;
  }

  /** Refuses, in order: `session-over`, `envelope-refused`, `peer-banned`, `aborted` with the step and whom it blames. */
  async round(message: RoundMessage): Promise<Result<RoundAnswer, Refused>> {
    const sid = bytesToHex(message.sid);
    const running = this.#running.get(sid);
    if (running === undefined) return refused(refusal('session-over'));
    if (running.last !== null && isSame(running.last.request, message)) return accepted(running.last.answer);
    return this.#run(running, message);
  }

  async #run(running: Running, message: RoundMessage): Promise<Result<RoundAnswer, Refused>> {
    const inbox = await this.#openAll(running, message);
    if (inbox === null) return refused(refusal('envelope-refused'));
    if (!running.isRationed) return this.#compute(running, message, inbox);
    const release = await this.#context.permit(running.participants);
    if (release === null) return this.#end(message, refusal('peer-banned'));
    try {
      return await this.#compute(running, message, inbox);
    } finally {
      release();
    }
  }

  async #compute(running: Running, message: RoundMessage, inbox: Inbox): Promise<Result<RoundAnswer, Refused>> {
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
      return this.#end(message, refusal('aborted', step.abort.step, blamed(step.abort)));
    }
    running.next = next;
    const answer = await this.#answer(message, step);
    running.last = { request: message, answer };
    return accepted(answer);
  }

  async #openAll(running: Running, message: RoundMessage): Promise<Inbox | null> {
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
      envelopes[String(party)] = base64Of(sealed);
    }
    return { sid, envelopes };
  }

  #end(message: RoundMessage, why: Refused): Result<RoundAnswer, Refused> {
    this.#running.delete(bytesToHex(message.sid));
    return refused(why);
  }
}

/** A name that takes every participant's fresh part, and everything that they have to agree on. */
function sessionId(
  { participants, purpose, context }: Preparation,
  nonces: ReadonlyMap<PartyIndex, string>,
  openings: Inbox,
): Uint8Array {
  const parts = participants.flatMap((party) => {
    const opening = openings.get(party);
    const nonce = hexToBytes(nonces.get(party) ?? '');
    return opening === undefined ? [nonce] : [nonce, opening];
  });
  return taggedHash(`cosigner/sid/${purpose}`, context, Uint8Array.from(participants), ...parts);
}

/** What a node signs with its identity: who says what, in which protocol about what, under which nonce. */
function openingStatement(
  { purpose, context, participants }: Preparation,
  party: PartyIndex,
  said: { readonly nonce: string; readonly opening: Uint8Array },
): Uint8Array {
  const place = Uint8Array.of(party, ...participants);
  return taggedHash(`cosigner/opening/${purpose}`, context, place, hexToBytes(said.nonce), said.opening);
}

function isComplete(nonces: ReadonlyMap<PartyIndex, string>, participants: readonly PartyIndex[]): boolean {
  return nonces.size === participants.length && participants.every((party) => nonces.has(party));
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  const oldest = map.keys().next();
  if (map.size >= MOST_SESSIONS && oldest.done !== true) map.delete(oldest.value);
  map.set(key, value);
}

/** Of one session: whether it is the same round with the same envelopes. */
function isSame(before: RoundMessage, now: RoundMessage): boolean {
  if (before.round !== now.round || before.envelopes.size !== now.envelopes.size) return false;
  return [...before.envelopes].every(([party, bytes]) => {
    const other = now.envelopes.get(party);
    return other !== undefined && equalBytes(bytes, other);
  });
}
