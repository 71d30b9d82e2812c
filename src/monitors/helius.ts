import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, hintsOn, items, SOLANA } from '#monitors/monitor.ts';

/**
 * Helius, raw and enhanced: the configured Authorization header is sent unchanged, and nothing
 * signs the body. A copy of one delivery is enough to forge others, so this scheme is the weakest
 * of all. A delivery leads only to a poll of the chain.
 */
export const helius: Monitor = {
  checkHeaders(header, secrets) {
    const given = header('authorization') ?? '';
    // Every secret is compared, so the time does not reveal which one matched.
    const matches = secrets.filter((secret) => constantTimeEqual(given, secret));
    return matches.length > 0 ? () => Promise.resolve(true) : null;
  },
  read(body) {
    const signatures = items(body).map(
      (row) => field(row, 'signature') ?? items(field(field(row, 'transaction'), 'signatures'))[0],
    );
    return { hints: hintsOn(SOLANA, signatures), alarm: null };
  },
};
