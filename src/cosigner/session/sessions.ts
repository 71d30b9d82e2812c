import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { SessionPeers } from '#cosigner/session/session-peers.ts';
import type { CosignerStorage } from '#cosigner/storage.ts';
import type { PeerMessages, SessionPlan, Round, Step } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { base64Of } from '#cosigner/request-parser.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { blamed } from '#mpc/abort.ts';
import type { Channel, EphemeralKey } from '#mpc/channel.ts';
import { newEphemeralKey, EXCHANGE_KEY_BYTES, openChannel } from '#mpc/channel.ts';
import { openEnvelope, sealEnvelope, signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';

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

/** The input of a start: the answers to all openings, by the co-signer that gave them. */
interface SessionStart {
  readonly nonces: ReadonlyMap<PartyIndex, string>;
  readonly openings: ReadonlyMap<PartyIndex, Uint8Array>;
  /** Receipts of co-signers that do not take part (receipt.ts). */
  readonly receipts: ReadonlyMap<PartyIndex, Uint8Array>;
}

/** The answer to a round: sealed envelopes for the peers, or the result. */
export interface RoundAnswer {
  readonly sid: string;
  /** Peer index to base64. */
  readonly envelopes?: Readonly<Record<string, string>>;
  readonly result?: Readonly<Record<string, unknown>>;
}

export interface RoundMessage {
  readonly sid: Uint8Array;
  /** The requested round: 2, 3, ... */
  readonly round: number;
  readonly envelopes: ReadonlyMap<PartyIndex, Uint8Array>;
}

/** A session that this co-signer has opened, with its secret for it. */
interface Opened {
  readonly sinceMs: number;
  readonly preparation: SessionPlan;
  readonly protocol: string;
  readonly ephemeral: EphemeralKey;
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
const SIGNATURE_BYTES = 64;

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
   */
  async open(
    protocol: string,
    prepare: () => Promise<Result<SessionPlan, Refused>>,
  ): Promise<Result<OpeningAnswer, Refused>> {
    const { membership, protocols } = this.#context;
    if (!protocols.includes(protocol)) return refused(refusal('protocol-mismatch', protocols.join(' ')));
    // The key is generated while the checks wait for other objects.
    const [prepared, ephemeral] = await Promise.all([prepare(), newEphemeralKey()]);
    if (!prepared.ok) return prepared;
    const opened = { preparation: prepared.value, protocol, ephemeral, sinceMs: Date.now() };
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    const said = saidBy(opened);
    const statement = openingStatement(opened, membership.own.index, { nonce, said });
    const signed = concatBytes(said, await signAsCosigner(membership.own, statement));
    remember(this.#opened, nonce, opened);
    return accepted({ nonce, opening: base64Of(signed) });
  }

  /**
   * Begins the session that the nonces and openings of all participants name, and returns the
   * messages of its first round. Refuses, in order: `unknown-session`, `envelope-refused` (an
   * opening that its co-signer did not sign for this session, or, with the detail `ephemeral-key`
   * and the culprit, a key of small order), what `admit` refuses, `aborted`.
   */
  async start(invitation: SessionStart): Promise<Result<RoundAnswer, Refused>> {
    const { membership, storage } = this.#context;
    const { nonces } = invitation;
    const own = nonces.get(membership.own.index) ?? '';
    const opened = this.#opened.get(own);
    this.#opened.delete(own);
    if (opened === undefined || !isComplete(nonces, opened.preparation.participants))
      return refused(refusal('unknown-session'));
    const said = await this.#verified(opened, invitation);
    if (said === null) return refused(refusal('envelope-refused'));
    const sid = sessionId(opened, nonces, said);
    const channels = await this.#channels(opened, sid, said);
    if (!channels.ok) return channels;
    const { participants, isRateLimited, begin, admit } = opened.preparation;
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
    return this.#compute(running, { sid, round: 1, envelopes: new Map() }, protocolPart(said));
  }

  /**
   * Returns the openings of all participants, or null when one of the others did not sign its
   * opening. A coordinator that alters an opening must neither make an honest co-signer look like a
   * cheater nor replace the key of a co-signer by its own.
   */
  async #verified(opened: Opened, { nonces, openings }: SessionStart): Promise<PeerMessages | null> {
    const { own, peers } = this.#context.membership;
    const all = new Map([[own.index, saidBy(opened)]]);
    for (const party of opened.preparation.participants) {
      if (party === own.index) continue;
      const [peer, bytes, nonce] = [peers.get(party), openings.get(party), nonces.get(party)];
      if (peer === undefined || bytes === undefined || nonce === undefined) return null;
      if (bytes.length < EXCHANGE_KEY_BYTES + SIGNATURE_BYTES) return null;
      const [said, signature] = [bytes.slice(0, -SIGNATURE_BYTES), bytes.slice(-SIGNATURE_BYTES)];
      const statement = openingStatement(opened, party, { nonce, said });
      if (!(await verifyAsCosigner(peer, statement, signature))) return null;
      all.set(party, said);
    }
    return all;
  }

  /**
   * Returns the channel of the session with each peer. From here on the ephemeral secret is not
   * needed and nothing holds it.
   */
  async #channels(
    opened: Opened,
    sid: Uint8Array,
    said: PeerMessages,
  ): Promise<Result<Map<PartyIndex, Channel>, Refused>> {
    const { own, peers } = this.#context.membership;
    const channels = new Map<PartyIndex, Channel>();
    for (const [party, peer] of peers) {
      const peerKey = said.get(party)?.slice(0, EXCHANGE_KEY_BYTES);
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
    const envelopes: Record<string, string> = {};
    for (const [party, body] of step.messages) {
      const channel = channels.get(party);
      if (channel === undefined) throw new Error('a message for a node that takes no part');
      const sealed = await sealEnvelope(own, channel, { round: message.round, body });
      envelopes[String(party)] = base64Of(sealed);
    }
    return { sid, envelopes };
  }

  #end(message: RoundMessage, why: Refused): Result<RoundAnswer, Refused> {
    this.#running.delete(bytesToHex(message.sid));
    return refused(why);
  }
}

/**
 * Returns the opening of a co-signer: its ephemeral key, and then the part of its protocol, which
 * may be empty.
 */
function saidBy({ preparation, ephemeral }: Opened): Uint8Array {
  return concatBytes(ephemeral.publicKey, preparation.opening ?? new Uint8Array());
}

function protocolPart(said: PeerMessages): PeerMessages {
  return new Map([...said].map(([party, bytes]) => [party, bytes.slice(EXCHANGE_KEY_BYTES)] as const));
}

/**
 * Returns the session id: a hash over the nonce and opening of every participant, and over all data
 * that they have to agree on.
 */
function sessionId(
  { preparation, protocol }: Opened,
  nonces: ReadonlyMap<PartyIndex, string>,
  said: PeerMessages,
): Uint8Array {
  const { participants, purpose, context } = preparation;
  const parts = participants.flatMap((party) => [
    hexToBytes(nonces.get(party) ?? ''),
    said.get(party) ?? new Uint8Array(),
  ]);
  return taggedHash(`cosigner/sid/${purpose}`, hexToBytes(protocol), context, Uint8Array.from(participants), ...parts);
}

/**
 * Returns what a co-signer signs with its identity: the opening, its sender, the protocol, the
 * context and the nonce.
 */
function openingStatement(
  { preparation, protocol }: Opened,
  party: PartyIndex,
  { nonce, said }: { readonly nonce: string; readonly said: Uint8Array },
): Uint8Array {
  const { purpose, context, participants } = preparation;
  const [version, position] = [hexToBytes(protocol), Uint8Array.of(party, ...participants)];
  return taggedHash(`cosigner/opening/${purpose}`, version, context, position, hexToBytes(nonce), said);
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
