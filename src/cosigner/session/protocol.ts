import type { Refused } from '#cosigner/refusal.ts';
import type { Abort } from '#mpc/abort.ts';
import type { PartyIndex } from '#mpc/party.ts';

export type PeerMessages = ReadonlyMap<PartyIndex, Uint8Array>;

/** The output of a round: messages for the peers, the result for the coordinator, or the end. */
export type Step =
  | { readonly type: 'messages'; readonly messages: PeerMessages }
  | { readonly type: 'result'; readonly result: Readonly<Record<string, unknown>> }
  | { readonly type: 'abort'; readonly abort: Abort };

/**
 * One run of a protocol in one co-signer, as a chain of rounds. Each step returns the next round
 * and drops the current one, so a round can be neither repeated nor resumed. A run is in memory
 * only: when the object is moved, the session is over.
 */
export interface Round {
  /** Takes the messages of the peers in the previous round. The first round takes all openings. */
  readonly run: (inbox: PeerMessages) => Promise<{ readonly step: Step; readonly next: Round | null }>;
}

/** A session that is requested but not begun: the nonces of all participants are not known yet. */
export interface SessionPlan {
  /** All co-signers that take part, this one included, in order. */
  readonly participants: readonly PartyIndex[];
  /** All data that the participants must agree on, hashed into the session id. */
  readonly context: Uint8Array;
  /** The label of the protocol, hashed into the session id. */
  readonly purpose: string;
  /**
   * What this co-signer sends to all others, and to the coordinator, before the session has an id,
   * so that a round is saved; null when the protocol has nothing of the kind. It is signed, and
   * hashed into the session id, together with the ephemeral key of this co-signer.
   */
  readonly opening: Uint8Array | null;
  /**
   * True when each round needs a permit of every pair. Such a protocol may reveal one bit of a
   * secret with every answer before the cheater is caught.
   */
  readonly isRateLimited: boolean;
  /**
   * The last check before the session begins, of the receipts that the coordinator sends with the
   * start. Returns the refusal, or null. Absent when a protocol has nothing to check.
   */
  readonly admit?: (receipts: PeerMessages) => Promise<Refused | null>;
  /**
   * Called once after the session id is stored, before the first message. It writes all rows that
   * have to precede the messages. The first round takes all openings.
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
