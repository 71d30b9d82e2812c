import { CREATED_AT_MS } from '../domain/cast.ts';

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const START_MS = CREATED_AT_MS;

/** The time of the running game, for all of its parties. */
export const clock = { nowMs: START_MS };

/** From now on the time of this process is the one of the game. */
export function takeOverClock(): void {
  Object.assign(Date, { now: () => clock.nowMs });
}
