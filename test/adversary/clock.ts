import { CREATED_AT_MS } from '../domain/cast.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const START_MS = CREATED_AT_MS;

/** The time of the running game, which all parties share. */
export const clock = { nowMs: START_MS };

/** Replaces `Date.now` of this process by the time of the game. */
export function takeOverClock(): void {
  Object.assign(Date, { now: () => clock.nowMs });
}
