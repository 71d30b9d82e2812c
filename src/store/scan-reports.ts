import * as z from 'zod';
import { ENDED_RETENTION_MS } from '#store/retried-rows.ts';

const blocks = z.strictObject({ fromBlock: z.string(), toBlock: z.string() });

/** The blocks that a scan had to read, and those that it has read. */
const scanCoverage = z.strictObject({
  requested: blocks,
  tokens: blocks,
  payments: blocks,
  /** The number of blocks that the RPC node did not show completely. */
  untraced: z.int(),
});

export type ScanCoverage = z.infer<typeof scanCoverage>;

/**
 * `waiting`: the blocks are not read yet. `recording`: some transactions are still to be recorded.
 * `done`, and `failed`: the scan was given up. `not-scanned`: the chain has no RPC node.
 */
export const WALLET_SCAN_STATES = ['waiting', 'recording', 'done', 'failed', 'not-scanned'] as const;

/** What the scan of one wallet came to so far. */
interface WalletScan {
  /** CAIP-2. */
  readonly chain: string;
  readonly address: string;
  readonly state: (typeof WALLET_SCAN_STATES)[number];
  /** Null until the blocks are read. */
  readonly counts: ScanCounts | null;
}

export interface ScanCounts extends z.infer<typeof counts> {
  readonly coverage: ScanCoverage;
}

const counts = z.strictObject({ found: z.int(), known: z.int(), added: z.int(), unrecorded: z.int() });

/** What members of a vault read of the scans that one of them requested. */
export interface ScanReport {
  /** The minute of the request, which names the report in its vault. */
  readonly reportAtMs: number;
  readonly wallets: readonly WalletScan[];
}

/**
 * Returns the reports of a vault, the newest first, or one of them. The rows of scans have the
 * counts, so a report is never behind its scans. A report of which a row may be pruned is left out.
 */
export async function scanReports(
  db: D1Database,
  {
    vaultId,
    reportAtMs,
    nowMs,
  }: { readonly vaultId: number; readonly reportAtMs: number | null; readonly nowMs: number },
): Promise<readonly ScanReport[]> {
  // The further rows of a scan have its id and a number behind a point, which `/` follows.
  const isGivenUp = `EXISTS (SELECT 1 FROM scans AS one WHERE one.id >= scans.id AND one.id < scans.id || '/'
    AND one.state = 'failed' AND (one.hashes IS NULL OR one.is_fresh))`;
  const state = `CASE
    WHEN found IS NULL AND state = 'done' THEN 'not-scanned'
    WHEN found = known + added + unrecorded THEN 'done'
    WHEN ${isGivenUp} THEN 'failed'
    WHEN found IS NULL THEN 'waiting'
    ELSE 'recording' END`;
  const read = `SELECT report_at_ms AS reportAtMs, chain, address, ${state} AS state, coverage, found, known, added,
      unrecorded FROM scans
    WHERE vault_id = ? AND report_at_ms ${reportAtMs === null ? '>' : '='} ? AND report_at_ms > ?
    ORDER BY report_at_ms DESC, chain, address`;
  const prunedMs = nowMs - ENDED_RETENTION_MS;
  const { results } = await db
    .prepare(read)
    .bind(vaultId, reportAtMs ?? prunedMs, prunedMs)
    .all();
  const reports = Map.groupBy(
    results.map((row) => reportRow.parse(row)),
    (row) => row.reportAtMs,
  );
  return [...reports].map(([atMs, rows]) => ({ reportAtMs: atMs, wallets: rows.map(walletScan) }));
}

const reportRow = z.strictObject({
  reportAtMs: z.int(),
  chain: z.string(),
  address: z.string(),
  state: z.enum(WALLET_SCAN_STATES),
  coverage: z.string().nullable(),
  ...z.strictObject({ ...counts.shape, found: z.int().nullable(), known: z.int().nullable() }).shape,
});

function walletScan({ chain, address, state, coverage, found, known, ...rest }: z.infer<typeof reportRow>): WalletScan {
  const isRead = coverage !== null && found !== null && known !== null;
  const { added, unrecorded } = rest;
  const read = isRead ? { found, known, added, unrecorded, coverage: scanCoverage.parse(JSON.parse(coverage)) } : null;
  return { chain, address, state, counts: read };
}
