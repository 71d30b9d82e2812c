import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { CosignerStorage } from '#cosigner/storage.ts';
import type { PeerMessages, SessionPlan, Round, Step } from '#cosigner/session/protocol.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { base64Of } from '#cosigner/request-parser.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { type Abort, blamed } from '#mpc/abort.ts';
import type { Channel, EphemeralKey } from '#mpc/channel.ts';
import { newEphemeralKey, EXCHANGE_KEY_BYTES, openChannel } from '#mpc/channel.ts';
import { openEnvelope, sealEnvelope, signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';

/** What an opening answers. */
interface OpeningAnswer {
  /** Hex, 32 bytes. */
  readonly nonce: string;
  /**
   * Base64: the ephemeral key of the co-signer, what its protocol tells all participants, and its
   * signature over both.
   */
  readonly opening: string;
}

/** What a session begins with: the answers to all openings, by the node that gave them. */
interface SessionStart {
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

/** A session that this co-signer has opened, with its secret for it. */
interface Opened {
  readonly preparation: SessionPlan;
  readonly protocol: string;
  readonly ephemeral: EphemeralKey;
}

interface Running extends Pick<SessionPlan, 'participants' | 'isRateLimited'> {
  /**
   * With each peer. None are left once there is a result: nothing that was sealed can be opened
   * from then on.
   */
  readonly channels: Map<PartyIndex, Channel>;
  round: number;
  next: Round | null;
  /**
   * The request that led to the last answer, and that answer: a lost reply is given again byte for byte. Kept as it came: a hash of it
   * would cost more than the rest of the round.
   */
  last: { readonly request: RoundMessage; readonly answer: RoundAnswer } | null;
}

/** Leave for one round; given back when its outcome is written down. */
export type RoundPermit = () => void;

/** More sessions at once than this are a coordinator gone wild; the oldest are forgotten, which only aborts them. */
const MAX_SESSIONS = 64;
const NONCE_BYTES = 32;
const SIGNATURE_BYTES = 64;

export interface SessionsContext {
  readonly membership: CosignerSet;
  readonly storage: CosignerStorage;
  /**
   * Digests of the protocols that this co-signer speaks, the newest first (protocol-version.ts).
   */
  readonly protocols: readonly string[];
  /** Called before the answer leaves, for a peer that was caught cheating. */
  readonly ban: (abort: Abort) => Promise<void>;
  /** Asked at every round of a protocol that is rationed and takes messages: null when a participant is banned or too many rounds with it are under way. */
  readonly permit: (participants: readonly PartyIndex[]) => Promise<RoundPermit | null>;
}

/**
 * The sessions of one object, in memory only. The rule of all of them: the ledger moves a session on before a round is
 * computed, so no round runs twice; and what is lost with the memory is aborted, never resumed.
 */
export class Sessions {
  readonly #context: SessionsContext;
  readonly #opened = new Map<string, Opened>();
  readonly #running = new Map<string, Running>();

  constructor(context: SessionsContext) {
    this.#context = context;
  }

  /**
   * Opens a session: this node's contribution to its name, its ephemeral key, and what it tells the
   * others with it. Refuses `protocol-mismatch` before anything of the request is read, then what
   * `prepare` refuses.
   */
  async open(
    protocol: string,
    prepare: () => Promise<Result<SessionPlan, Refused>>,
  ): Promise<Result<OpeningAnswer, Refused>> {
    const { membership, protocols } = this.#context;
    if (!protocols.includes(protocol)) return refused(refusal('protocol-mismatch', protocols.join(' ')));
    // The key is drawn while the checks wait for other objects.
    const [prepared, ephemeral] = await Promise.all([prepare(), newEphemeralKey()]);
    if (!prepared.ok) return prepared;
    const opened = { preparation: prepared.value, protocol, ephemeral };
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
    const said = saidBy(opened);
    const statement = openingStatement(opened, membership.own.index, { nonce, said });
    const signed = concatBytes(said, await signAsCosigner(membership.own, statement));
    remember(this.#opened, nonce, opened);
    return accepted({ nonce, opening: base64Of(signed) });
  }

  /**
   * Begins the session that the nonces and openings of all participants name, and gives the
   * messages of its first round. Refuses, in order: `unknown-session`, `envelope-refused` (an
   * opening that its node has not signed for this session, or, with the detail `ephemeral-key` and
   * the culprit, a key of small order), what the preparation does not admit, `aborted`.
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
    storage.openSession(sid, Date.now());
    const running: Running = {
      participants,
      isRateLimited,
      channels: channels.value,
      round: 1,
      next: begin(sid),
      last: null,
    };
    remember(this.#running, bytesToHex(sid), running);
    // It answers nobody's message yet, so that there is nothing to ration.
    return this.#compute(running, { sid, round: 1, envelopes: new Map() }, protocolPart(said));
  }

  /**
   * What each participant has said, this node itself by its own word; null where one of the others
   * has not signed it: a coordinator that changes one must neither make a cheater of an honest node
   * nor put a key of its own in the place of a co-signer's.
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
   * The keys of the session with each peer. From here on the ephemeral secret is needed no more,
   * and nothing holds it.
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

  /** Refuses, in order: `session-over`, `envelope-refused`, `peer-banned`, `aborted` with the step and whom it blames. */
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
    const release = await this.#context.permit(running.participants);
    if (release === null) return this.#end(message, refusal('peer-banned'));
    try {
      return await this.#compute(running, message, inbox);
    } finally {
      release();
    }
  }

  async #compute(running: Running, message: RoundMessage, inbox: PeerMessages): Promise<Result<RoundAnswer, Refused>> {
    const { storage, ban } = this.#context;
    // The ledger moves first, then the state is used up, and nothing waits in between.
    if (message.round > 1 && (message.round !== running.round + 1 || !storage.advance(message.sid, message.round))) {
      return this.#end(message, refusal('session-over'));
    }
    const current = running.next;
    running.next = null;
    running.round = message.round;
    if (current === null) return this.#end(message, refusal('session-over'));
    const { step, next } = await this.#step(current, inbox, message);
    if (step.type === 'abort') {
      if (step.abort.ban) await ban(step.abort);
      return this.#end(message, refusal('aborted', step.abort.step, blamed(step.abort)));
    }
    running.next = next;
    const answer = await this.#answer(running, message, step);
    if (step.type === 'result') running.channels.clear();
    running.last = { request: message, answer };
    return accepted(answer);
  }

  /** One round. A session that fails in it is over: its keys do not stay behind in memory. */
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
 * What a co-signer says in its opening: its ephemeral key, and then what its protocol has to say,
 * which may be nothing.
 */
function saidBy({ preparation, ephemeral }: Opened): Uint8Array {
  return concatBytes(ephemeral.publicKey, preparation.opening ?? new Uint8Array());
}

function protocolPart(said: PeerMessages): PeerMessages {
  return new Map([...said].map(([party, bytes]) => [party, bytes.slice(EXCHANGE_KEY_BYTES)] as const));
}

/**
 * A name that takes every participant's fresh part and ephemeral key, and everything that they have
 * to agree on.
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

/** What a node signs with its identity: who says what, in which protocol about what, under which nonce. */
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

/** Of one session: whether it is the same round with the same envelopes. */
function isSame(before: RoundMessage, now: RoundMessage): boolean {
  if (before.round !== now.round || before.envelopes.size !== now.envelopes.size) return false;
  return [...before.envelopes].every(([party, bytes]) => {
    const other = now.envelopes.get(party);
    return other !== undefined && equalBytes(bytes, other);
  });
}
