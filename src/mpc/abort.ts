import type { PartyIndex } from '#mpc/party.ts';

/**
 * Why a round ended without a result.
 *
 * - `ban` is true only where an authenticated message failed a check that nobody but a cheater can fail, and where each
 *   further try would tell the cheater one more bit of a long-lived secret (OT extension, RVOLE, gamma). The caller writes
 *   the ban BEFORE it answers, and looks for it at the start of EVERY round: a cheater who opened many sessions
 *   side by side must not get one answer from each.
 * - `suspects` stands where the protocol cannot tell who it was: `culprit` is then only the first of them.
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

/** The message is missing, malformed, or of another session. It may be the relay's doing, so nobody is banned. */
export function abortedBy(culprit: PartyIndex, step: string): Aborted {
  return { ok: false, abort: { culprit, step, ban: false } };
}

/** A check on secret state failed on a well-formed message of the right session: the sender cheats. */
export function bannedBy(culprit: PartyIndex, step: string): Aborted {
  return { ok: false, abort: { culprit, step, ban: true } };
}

/** One of several did it, and the protocol has no evidence which. One suspect is a culprit. */
export function abortedByOneOf(suspects: readonly PartyIndex[], step: string): Aborted {
  const [first] = suspects;
  if (first === undefined) throw new Error(`${step}: an abort needs a suspect`);
  if (suspects.length === 1) return abortedBy(first, step);
  return { ok: false, abort: { culprit: first, step, ban: false, suspects } };
}

/** Who did it, as far as it can be told: of several suspects nobody is named. */
export function blamed({ culprit, suspects }: Abort): PartyIndex | null {
  return suspects === undefined ? culprit : null;
}
