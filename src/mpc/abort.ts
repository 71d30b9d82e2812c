import type { PartyIndex } from '#mpc/party.ts';

/**
 * The reason why a round ended without a result.
 *
 * - `ban` is true only when an authenticated message failed a check that only a cheater can fail,
 *   and when each further attempt would reveal to the cheater one more bit of a long-lived secret
 *   (OT extension, RVOLE, gamma). The caller writes the ban BEFORE it answers, and reads it at the
 *   start of EVERY round: a cheater that opened many sessions in parallel must not get one answer
 *   from each.
 * - `suspects` is present when the protocol cannot identify the culprit: `culprit` is then only the
 *   first of them.
 */
export interface Abort {
  readonly culprit: PartyIndex;
  readonly step: string;
  readonly ban: boolean;
  readonly suspects?: readonly PartyIndex[];
}

export type RoundResult<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly abort: Abort };

export type Aborted = { readonly ok: false; readonly abort: Abort };

export function completed<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/**
 * The message is missing, malformed, or of another session. The relay may have caused it, so no
 * party is banned.
 */
export function abortedBy(culprit: PartyIndex, step: string): Aborted {
  return { ok: false, abort: { culprit, step, ban: false } };
}

/**
 * A check on secret state failed on a well-formed message of the right session: the sender cheats.
 */
export function bannedBy(culprit: PartyIndex, step: string): Aborted {
  return { ok: false, abort: { culprit, step, ban: true } };
}

/**
 * One of several parties caused the failure, and the protocol has no evidence which. A single
 * suspect is the culprit.
 */
export function abortedByOneOf(suspects: readonly PartyIndex[], step: string): Aborted {
  const [first] = suspects;
  if (first === undefined) throw new Error(`${step}: an abort has no suspect`);
  if (suspects.length === 1) return abortedBy(first, step);
  return { ok: false, abort: { culprit: first, step, ban: false, suspects } };
}

/** Returns the culprit when it is identified. With several suspects, no party is named. */
export function blamed({ culprit, suspects }: Abort): PartyIndex | null {
  return suspects === undefined ? culprit : null;
}
