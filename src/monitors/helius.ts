import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, items } from '#monitors/monitor.ts';
import type { NetworkOf } from '#monitors/networks.ts';
import { NETWORKS } from '#monitors/networks.ts';
import { kindOf, reportOf } from '#monitors/report.ts';

/**
 * Helius, raw and enhanced: the configured Authorization header is sent unchanged, and nothing
 * signs the body. A copy of one delivery is enough to forge others, so this scheme is the weakest
 * of all. A delivery leads only to a poll of the chain. The body does not name its network, so each
 * network is a provider of its own.
 */
export const helius: Readonly<Record<NetworkOf<'solana'>, Monitor>> = {
  solana: heliusOn(NETWORKS.solana),
  'solana-devnet': heliusOn(NETWORKS['solana-devnet']),
};

function heliusOn(chain: string): Monitor {
  return {
    checkHeaders(header, secrets) {
      const authorization = header('authorization') ?? '';
      // Every secret is compared, so the time does not reveal which one matched.
      const matches = secrets.filter((secret) => constantTimeEqual(authorization, secret));
      return matches.length > 0 ? () => Promise.resolve(true) : null;
    },
    read(body) {
      const rows = Array.isArray(body) ? items(body) : [body];
      return reportOf(rows.map((row) => ({ chain, row, kind: kindOf(row, field(row, 'type')) })));
    },
  };
}
