import type { Refused } from '#cosigner/refusal.ts';
import type { Abort } from '#mpc/abort.ts';
import type { PartyIndex } from '#mpc/party.ts';

export type PeerMessages = ReadonlyMap<PartyIndex, Uint8Array>;

/** What a round of a protocol gives: messages for the peers, the result for the coordinator, or the end. */
export type Step =
  | { readonly type: 'messages'; readonly messages: PeerMessages }
  | { readonly type: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly type: 'abort'; readonly abort: Abort };

/**
 * One run of a protocol in one node, as a chain of rounds: each step gives the next one and loses itself, so a round can be
 * neither repeated nor resumed. It lives in memory only; when the object is moved it is gone, and the session is over.
 */
export interface Round {
  /** Takes the peers' messages of the round before; the first round takes all openings. */
  readonly run: (inbox: PeerMessages) => Promise<{ readonly step: Step; readonly next: Round | null }>;
}

/** A session that is asked for but not begun: the nonces of all participants are still on their way. */
export interface SessionPlan {
  /** All nodes that take part, this one included, in order. */
  readonly participants: readonly PartyIndex[];
  /** Everything that the participants must agree on, hashed into the session id. */
  readonly context: Uint8Array;
  /** The label of the protocol, hashed into the session id. */
  readonly purpose: string;
  /**
   * What this node tells all others, and the coordinator, before the session has a name, so that a
   * round is saved; null where a protocol has nothing of the kind. It is signed, and hashed into
   * the session id, together with the ephemeral key of this co-signer.
   */
  readonly opening: Uint8Array | null;
  /**
   * A permit of every pair is needed for each round: of a protocol in which every answer may tell a cheater a bit of a secret before it is
   * caught.
   */
  readonly isRateLimited: boolean;
  /**
   * The last check before the session begins, of what the coordinator sends with the invitation: the
   * refusal, or null. Absent where a protocol has nothing to check.
   */
  readonly admit?: (receipts: PeerMessages) => Promise<Refused | null>;
  /**
   * Called once the session id is taken, before the first message: what must be written down is written here. The first round takes all
   * openings.
   */
  readonly begin: (sid: Uint8Array) => Round;
}

export function aborted(abort: Abort): { readonly step: Step; readonly next: null } {
  return { step: { type: 'abort', abort }, next: null };
}

export function sent(messages: PeerMessages, next: Round): { readonly step: Step; readonly next: Round } {
  return { step: { type: 'messages', messages }, next };
}

export function finished(result: Readonly<Record<string, unknown>>): { readonly step: Step; readonly next: null } {
  return { step: { type: 'result', result }, next: null };
}
