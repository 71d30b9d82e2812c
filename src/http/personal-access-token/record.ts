import { timeText } from '#http/time-text.ts';
import type { TokenView } from '#objects/access-token.ts';

/** A token as every endpoint answers it: its name, its dates and whether it is enabled. Never its value. */
export function accessTokenRecord(token: TokenView) {
  const time = (atMs: number | null) => (atMs === null ? null : timeText(atMs));
  return {
    id: token.id,
    name: token.name,
    /** Unix seconds (spec part 2). */
    expiresAt: token.expiresAt,
    enabled: token.enabled,
    createdAt: timeText(token.createdAtMs),
    updatedAt: timeText(token.updatedAtMs),
    rotatedAt: time(token.rotatedAtMs),
    lastUsedAt: time(token.lastUsedAtMs),
    previousValueUntil: time(token.previousUntilMs),
  };
}
