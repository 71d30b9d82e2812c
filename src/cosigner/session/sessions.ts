import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { SessionPeers } from '#cosigner/session/session-peers.ts';
import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { Opened, Openings } from '#cosigner/session/opening.ts';
import {
  openingStatement,
  protocolPart,
  contributionOf,
  sessionId,
  verifiedOpenings,
} from '#cosigner/session/opening.ts';
import type { PeerMessages, SessionPlan, Round, Step } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { base64Of } from '#cosigner/request-parser.ts';
import type { EnvelopesByCosigner } from '#domain/access/round-body.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { blamed } from '#mpc/abort.ts';
import type { Channel } from '#mpc/channel.ts';
import { newEphemeralKey, EXCHANGE_KEY_BYTES, openChannel } from '#mpc/channel.ts';
import { openEnvelope, sealEnvelope, signAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes } from '#mpc/transcript.ts';

/** The answer to an opening. */
interface OpeningAnswer {
  /** Hex, 32 bytes. */
  readonly nonce: string;
  /**
   * Base64: the ephemeral key of the co-signer, the part of its protocol, and its signature over
   * both.
   */
  readonly opening: string;
}

/** The input of a start: the answers to all openings. */
interface SessionStart extends Openings {
  /** Receipts of co-signers that do not take part (receipt.ts). */
  readonly receipts: ReadonlyMap<PartyIndex, Uint8Array>;
  /** Returns the plan of a session that was opened ahead; absent for all others. */
  readonly prepare?: () => Promise<Result<SessionPlan, Refused>>;
}

/** The answer to a round: sealed envelopes for the peers, or the result. */
export interface RoundAnswer {
  readonly sid: string;
  /** By the peer that they are for. */
  readonly envelopes?: EnvelopesByCosigner;
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface RoundMessage {
  readonly sid: Uint8Array;
  /** The requested round: 2, 3, ... */
  readonly round: number;
  readonly envelopes: ReadonlyMap<PartyIndex, Uint8Array>;
}

interface Running extends Pick<SessionPlan, 'participants' | 'isRateLimited'> {
  readonly sinceMs: number;
  /**
   * The channel with each peer. They are deleted once there is a result: from then on nothing that
   * was sealed can be opened.
   */
  readonly channels: Map<PartyIndex, Channel>;
  round: number;
  next: Round | null;
  /**
   * The request that led to the last answer, and that answer: a lost reply is repeated byte for
   * byte. The request is stored itself, since a hash of it would cost more than the rest of the
   * round.
   */
  last: { readonly request: RoundMessage; readonly answer: RoundAnswer } | null;
}

/**
 * A coordinator with more concurrent sessions is faulty. The oldest are deleted, which only aborts
 * them.
 */
const MAX_SESSIONS = 64;
/** Ours: far longer than any session takes, also on a busy machine. */
const MAX_SESSION_MS = 10 * 60 * 1000;
const NONCE_BYTES = 32;

export interface SessionsContext {
  readonly membership: CosignerSet;
  readonly storage: CosignerStorage;
  /**
   * Digests of the protocols that this co-signer speaks, the newest first (protocol-version.ts).
   */
  readonly protocols: readonly string[];
  /**
   * It bans a peer that was caught cheating before the answer leaves. It permits each round of a
   * rate-limited protocol that takes messages, unless a participant is banned or too many rounds
   * with it are in progress.
   */
  readonly peers: Pick<SessionPeers, 'ban' | 'permit'>;
}

/**
 * The sessions of one object, in memory only. The storage advances a session before a round is
 * computed, so no round runs twice. What is lost with the memory is aborted, never resumed.
 */
export class Sessions {
  readonly #context: SessionsContext;
  readonly #opened = new Map<string, Opened>();
  readonly #running = new Map<string, Running>();

  constructor(context: SessionsContext) {
    this.#context = context;
  }

  /**
   * Ends the sessions that were not completed in time. Otherwise a coordinator that keeps this
   * object awake could keep their channel keys in memory.
   */
  endOld(nowMs: number): void {
    for (const sessions of [this.#opened, this.#running]) {
      for (const [name, { sinceMs }] of sessions) if (sinceMs + MAX_SESSION_MS <= nowMs) sessions.delete(name);
    }
  }

  /**
   * Opens a session and returns the nonce of this co-signer and its signed opening with its
   * ephemeral key. Refuses `protocol-mismatch` before it reads the request, then what `prepare`
   * refuses.
   *
   * @param prepare null for a session that is opened ahead: its request comes with the start
   */
  async open(
    protocol: string,
    prepare: (() => Promise<Result<SessionPlan, Refused>>) | null,
  ): Promise<Result<OpeningAnswer, Refused>> {
    const { membership, protocols } = this.#context;
    if (!protocols.includes(protocol)) return refused(refusal('protocol-mismatch', protocols.join(' ')));
    // The key is generated while the checks wait for other objects.
    const [prepared, ephemeral] = await Promise.all([prepare?.() ?? accepted(null), newEphemeralKey()]);
    if (!prepared.ok) return prepared;
    const opened = { plan: prepared.value, protocol, ephemeral, sinceMs: Date.now() };
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    const contribution = contributionOf(opened);
    const statement = openingStatement(opened, membership.own.index, { nonce, contribution });
    const signed = concatBytes(contribution, await signAsCosigner(membership.own, statement));
    remember(this.#opened, nonce, opened);
    return accepted({ nonce, opening: base64Of(signed) });
  }

  /**
   * Begins the session that the nonces and openings of all participants name, and returns the
   * messages of its first round. Refuses, in order: `unknown-session`, what `planOf` refuses,
   * `envelope-refused` (an opening that its co-signer did not sign for this session, or, with the
   * detail `ephemeral-key` and the culprit, a key of small order), what `admit` refuses, `aborted`.
   */
  async start(invitation: SessionStart): Promise<Result<RoundAnswer, Refused>> {
    const { membership, storage } = this.#context;
    const { nonces } = invitation;
    const own = nonces.get(membership.own.index) ?? '';
    const opened = this.#opened.get(own);
    this.#opened.delete(own);
    if (opened === undefined) return refused(refusal('unknown-session'));
    const planned = await planOf(opened, invitation);
    if (!planned.ok) return planned;
    const plan = planned.value;
    const { participants, isRateLimited, begin, admit } = plan;
    if (!isComplete(nonces, participants)) return refused(refusal('unknown-session'));
    const contributions = await verifiedOpenings(membership, opened, { ...invitation, participants });
    if (contributions === null) return refused(refusal('envelope-refused'));
    const sid = sessionId(plan, opened.protocol, { nonces, contributions });
    const channels = await this.#channels(opened, sid, contributions);
    if (!channels.ok) return channels;
    const unusable = (await admit?.(invitation.receipts)) ?? null;
    if (unusable !== null) return refused(unusable);
    const sinceMs = Date.now();
    storage.openSession(sid, sinceMs);
    const running: Running = {
      sinceMs,
      participants,
      isRateLimited,
      channels: channels.value,
      round: 1,
      next: begin(sid),
      last: null,
    };
    remember(this.#running, bytesToHex(sid), running);
    // The first round takes no message of a peer, so it needs no permit.
    return this.#compute(running, { sid, round: 1, envelopes: new Map() }, protocolPart(contributions));
  }

  /**
   * Returns the channel of the session with each peer. From here on the ephemeral secret is not
   * needed and nothing holds it.
   */
  async #channels(
    opened: Opened,
    sid: Uint8Array,
    contributions: PeerMessages,
  ): Promise<Result<Map<PartyIndex, Channel>, Refused>> {
    const { own, peers } = this.#context.membership;
    const channels = new Map<PartyIndex, Channel>();
    for (const [party, peer] of peers) {
      const peerKey = contributions.get(party)?.slice(0, EXCHANGE_KEY_BYTES);
      if (peerKey === undefined) continue;
      const channel = await openChannel(own, peer, { sid, ephemeral: opened.ephemeral, peerKey });
      if (channel === null) return refused(refusal('envelope-refused', 'ephemeral-key', party));
      channels.set(party, channel);
    }
    return accepted(channels);
  }

  /**
   * Refuses, in order: `session-over`, `envelope-refused`, `peer-banned`, `aborted` with the step
   * and the blamed co-signer.
   */
  async round(message: RoundMessage): Promise<Result<RoundAnswer, Refused>> {
    const sid = bytesToHex(message.sid);
    const running = this.#running.get(sid);
    if (running === undefined) return refused(refusal('session-over'));
    if (running.last !== null && isSame(running.last.request, message)) return accepted(running.last.answer);
    if (running.last?.answer.result !== undefined) return this.#end(message, refusal('session-over'));
    return this.#run(running, message);
  }

  async #run(running: Running, message: RoundMessage): Promise<Result<RoundAnswer, Refused>> {
    const inbox = await this.#openAll(running, message);
    if (inbox === null) return refused(refusal('envelope-refused'));
    if (!running.isRateLimited) return this.#compute(running, message, inbox);
    const { membership, peers } = this.#context;
    const release = await peers.permit(running.participants.filter((party) => party !== membership.own.index));
    if (release === null) return this.#end(message, refusal('peer-banned'));
    try {
      return await this.#compute(running, message, inbox);
    } finally {
      release();
    }
  }

  async #compute(running: Running, message: RoundMessage, inbox: PeerMessages): Promise<Result<RoundAnswer, Refused>> {
    const { storage, peers } = this.#context;
    // The storage advances first, then the state is used up. Nothing awaits in between.
    if (message.round > 1 && (message.round !== running.round + 1 || !storage.advance(message.sid, message.round))) {
      return this.#end(message, refusal('session-over'));
    }
    const current = running.next;
    running.next = null;
    running.round = message.round;
    if (current === null) return this.#end(message, refusal('session-over'));
    const { step, next } = await this.#step(current, inbox, message);
    if (step.type === 'abort') {
      if (step.abort.ban) await peers.ban(step.abort.culprit, step.abort.step);
      return this.#end(message, refusal('aborted', step.abort.step, blamed(step.abort)));
    }
    running.next = next;
    const answer = await this.#answer(running, message, step);
    if (step.type === 'result') running.channels.clear();
    running.last = { request: message, answer };
    return accepted(answer);
  }

  /** Runs one round. A session that fails in it is over: its keys do not stay in memory. */
  async #step(current: Round, inbox: PeerMessages, { sid }: RoundMessage): ReturnType<Round['run']> {
    try {
      return await current.run(inbox);
    } catch (error) {
      this.#running.delete(bytesToHex(sid));
      throw error;
    }
  }

  async #openAll(running: Running, message: RoundMessage): Promise<PeerMessages | null> {
    const { own, peers } = this.#context.membership;
    const inbox = new Map<PartyIndex, Uint8Array>();
    for (const party of running.participants) {
      if (party === own.index) continue;
      const [peer, channel, bytes] = [peers.get(party), running.channels.get(party), message.envelopes.get(party)];
      if (peer === undefined || channel === undefined || bytes === undefined) return null;
      const body = await openEnvelope(peer, channel, { round: message.round - 1, bytes });
      if (body === null) return null;
      inbox.set(party, body);
    }
    return inbox;
  }

  async #answer(
    { channels }: Running,
    message: RoundMessage,
    step: Exclude<Step, { type: 'abort' }>,
  ): Promise<RoundAnswer> {
    const sid = bytesToHex(message.sid);
    if (step.type === 'result') return { sid, result: step.result };
    const { own } = this.#context.membership;
    const envelopes: Record<string, Uint8Array> = {};
    for (const [party, body] of step.messages) {
      const channel = channels.get(party);
      if (channel === undefined) throw new Error('a message is for a co-signer that takes no part');
      envelopes[String(party)] = await sealEnvelope(own, channel, { round: message.round, body });
    }
    return { sid, envelopes };
  }

  #end(message: RoundMessage, why: Refused): Result<RoundAnswer, Refused> {
    this.#running.delete(bytesToHex(message.sid));
    return refused(why);
  }
}

/**
 * Returns the plan of a session. Refuses `malformed` when the start of a session that was opened
 * ahead has no request, when that of another one has a request, and for a protocol with a part in
 * the opening, which is signed and sent already. Refuses what `prepare` refuses.
 */
async function planOf(
  { plan }: Opened,
  { prepare }: Pick<SessionStart, 'prepare'>,
): Promise<Result<SessionPlan, Refused>> {
  if (plan !== null && prepare === undefined) return accepted(plan);
  if (plan !== null || prepare === undefined) return refused(refusal('malformed', 'request'));
  const prepared = await prepare();
  return prepared.ok && prepared.value.opening !== null ? refused(refusal('malformed', 'opening')) : prepared;
}

function isComplete(nonces: ReadonlyMap<PartyIndex, string>, participants: readonly PartyIndex[]): boolean {
  return nonces.size === participants.length && participants.every((party) => nonces.has(party));
}

function remember<T>(map: Map<string, T>, key: string, value: T): void {
  const oldest = map.keys().next();
  if (map.size >= MAX_SESSIONS && oldest.done !== true) map.delete(oldest.value);
  map.set(key, value);
}

/** Reports whether two messages of one session are the same round with the same envelopes. */
function isSame(before: RoundMessage, now: RoundMessage): boolean {
  if (before.round !== now.round || before.envelopes.size !== now.envelopes.size) return false;
  return [...before.envelopes].every(([party, bytes]) => {
    const other = now.envelopes.get(party);
    return other !== undefined && equalBytes(bytes, other);
  });
}
