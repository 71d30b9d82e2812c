import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { and, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import * as z from 'zod';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { REOPENED_AT_ONCE } from '#store/retried-rows.ts';
import type { ScanCoverage } from '#store/scan-reports.ts';
import { scans } from '#store/schema.ts';

type ScanRow = typeof scans.$inferSelect;

export interface StoredScan extends Omit<ScanRow, 'hashes'> {
  readonly hashes: readonly string[] | null;
}

/** What a chain is scanned for. */
export interface ScanRequest extends Pick<ScanRow, 'chain' | 'address' | 'sinceBlock'> {
  readonly vaultId: number;
  /**
   * The block at which the balance differed from the chain. A scan that ended before cannot explain
   * the difference, so it is not the same scan. Absent for the request of a member.
   */
  readonly differsAt?: string;
}

/**
 * A repeated request within this time is the same scan: a user's clicks do not each start a scan.
 */
const SAME_SCAN_MS = 60_000;

/** The maximum number of reports of a vault. A newer one replaces the oldest. */
const MAX_REPORTS = 20;

/**
 * Stores a scan of a chain's blocks for one wallet. Returns null when the same scan was just
 * completed.
 */
export async function requestScan(db: D1Database, request: ScanRequest, nowMs: number): Promise<string | null> {
  const row = newRow(request, nowMs);
  const [, open] = await db.batch<{ id: string }>([
    db.prepare(INSERT).bind(JSON.stringify([row])),
    db.prepare("SELECT id FROM scans WHERE id = ? AND state = 'open'").bind(row.id),
  ]);
  return open?.results[0]?.id ?? null;
}

interface Rescan {
  readonly vaultId: number;
  readonly wallets: readonly (Pick<ScanRow, 'chain' | 'address'> & {
    /** Without an RPC node the wallet is in the report, and nothing is scanned. */
    readonly isReadable: boolean;
  })[];
}

/**
 * Stores the scans that a member requests, one for each wallet, with their report. Requests of one
 * minute are one report. All of it is stored at once, so no report lacks a wallet. Returns the time
 * that names the report, and the ids of the scans that are open.
 */
export async function requestRescan(
  db: D1Database,
  { vaultId, wallets }: Rescan,
  nowMs: number,
): Promise<{ readonly reportAtMs: number; readonly open: readonly string[] }> {
  const reportAtMs = nowMs - (nowMs % SAME_SCAN_MS);
  const rows = wallets.map(({ isReadable, ...wallet }) => {
    const state = isReadable ? ('open' as const) : ('done' as const);
    return { ...newRow({ vaultId, sinceBlock: null, ...wallet }, nowMs), reportAtMs, state };
  });
  const oldest = `SELECT DISTINCT report_at_ms FROM scans WHERE vault_id = ?1 AND report_at_ms IS NOT NULL
    ORDER BY report_at_ms DESC LIMIT 1 OFFSET ${MAX_REPORTS - 1}`;
  const [, , open] = await db.batch<{ id: string }>([
    db.prepare(INSERT).bind(JSON.stringify(rows)),
    db.prepare(`UPDATE scans SET report_at_ms = NULL WHERE vault_id = ?1 AND report_at_ms < (${oldest})`).bind(vaultId),
    db
      .prepare("SELECT id FROM scans WHERE vault_id = ? AND report_at_ms = ? AND state = 'open' ORDER BY chain, id")
      .bind(vaultId, reportAtMs),
  ]);
  return { reportAtMs, open: (open?.results ?? []).map(({ id }) => id) };
}

const INSERT = `${insertRows(scans)} ON CONFLICT DO NOTHING`;

function newRow({ vaultId, chain, address, sinceBlock, differsAt }: ScanRequest, nowMs: number) {
  const bytes = canonicalBytes('conclave/scan/v1', [
    ['vaultId', String(vaultId)],
    ['chain', chain],
    ['address', address],
    ['sinceBlock', sinceBlock],
    ['minute', String(Math.floor(nowMs / SAME_SCAN_MS))],
    ...(differsAt === undefined ? [] : [['differsAt', differsAt] as const]),
  ]);
  const id = bytesToHex(sha256(bytes));
  const fresh = { startedAtMs: nowMs, state: 'open' as const, tries: 0, dueAtMs: nowMs };
  return { id, vaultId, chain, address, sinceBlock, ...fresh, ...UNCOUNTED };
}

/** The counts of a row that is no scan of its own, or that has not read its blocks. */
const UNCOUNTED = { added: 0, unrecorded: 0, isFresh: false } as const;

/**
 * Reopens failed scans of a vault, the newest first, for another day of tries. A scan that has read
 * its blocks continues with the hashes that are still to be recorded. Returns their ids.
 */
export async function reopenScans(db: D1Database, vaultId: number, nowMs: number): Promise<readonly string[]> {
  const failed = `SELECT id FROM scans WHERE vault_id = ?1 AND state = 'failed' ORDER BY started_at_ms DESC LIMIT ?3`;
  const reopen = `UPDATE scans SET state = 'open', tries = 0, due_at_ms = ?2, started_at_ms = ?2
    WHERE id IN (${failed}) RETURNING id`;
  const { results } = await db.prepare(reopen).bind(vaultId, nowMs, REOPENED_AT_ONCE).all<{ id: string }>();
  return results.map(({ id }) => id);
}

/** Reports whether a scan of a chain for a vault still has something to read or to record. */
export async function isScanOpen(
  db: D1Database,
  { vaultId, chain }: Pick<ScanRequest, 'vaultId' | 'chain'>,
): Promise<boolean> {
  const isOpen = and(eq(scans.vaultId, vaultId), eq(scans.chain, chain), eq(scans.state, 'open'));
  const rows = await drizzle(db).select({ id: scans.id }).from(scans).where(isOpen).limit(1);
  return rows.length > 0;
}

/** Returns the scan, or null when it has ended or does not exist. */
export async function openScan(db: D1Database, id: string): Promise<StoredScan | null> {
  const isOpen = and(eq(scans.id, id), eq(scans.state, 'open'));
  const [row] = await drizzle(db).select().from(scans).where(isOpen);
  if (row === undefined) return null;
  return { ...row, hashes: row.hashes === null ? null : hashList.parse(JSON.parse(row.hashes)) };
}

const hashList = z.array(z.string());

/** What the reading of the blocks found. */
interface Found {
  /** The transactions, each group in a row of its own. A group is new to the vault or known. */
  readonly groups: readonly { readonly hashes: readonly string[]; readonly isFresh: boolean }[];
  readonly coverage: ScanCoverage;
  readonly nowMs: number;
}

/**
 * Stores what a scan has found, and returns the ids of the rows that have it: the first group stays
 * with the scan, and each other group becomes a row of its own, with its own retries.
 *
 * All of it is stored at once or nothing is. When the blocks are read a second time, by a repeated
 * message or after a crash, the list of the first reading stays: a second list can have another
 * order, and groups of both would leave hashes out. The counts of the report are those of the first
 * reading, too: a second one would count as known what the scan itself has recorded meanwhile.
 */
export async function storeHashes(
  db: D1Database,
  scan: StoredScan,
  { groups, coverage, nowMs }: Found,
): Promise<readonly string[]> {
  const fresh = { startedAtMs: nowMs, tries: 0, dueAtMs: nowMs, outcome: null };
  const further = { ...scan, ...fresh, ...UNCOUNTED, reportAtMs: null };
  const [own = { hashes: [], isFresh: false }, ...others] = groups;
  const rows = others.map(({ hashes, isFresh }, i) => {
    return { ...further, id: `${scan.id}.${i + 1}`, hashes: JSON.stringify(hashes), isFresh };
  });
  const isUnread = "SELECT 1 FROM scans WHERE id = ? AND state = 'open' AND hashes IS NULL";
  const insert = db.prepare(`${insertRows(scans)} AND EXISTS (${isUnread})`);
  const countOf = (some: Found['groups']) => some.reduce((sum, { hashes }) => sum + hashes.length, 0);
  const keep = db.prepare(
    `UPDATE scans SET hashes = ?, is_fresh = ?, coverage = ?, found = ?, known = ?, started_at_ms = ?, tries = 0,
      due_at_ms = ?, outcome = NULL
      WHERE id = ? AND state = 'open' AND hashes IS NULL`,
  );
  const counts = [countOf(groups), countOf(groups.filter(({ isFresh }) => !isFresh))];
  await db.batch([
    ...jsonTexts(rows).map((text) => insert.bind(text, scan.id)),
    keep.bind(
      JSON.stringify(own.hashes),
      own.isFresh ? 1 : 0,
      JSON.stringify(coverage),
      ...counts,
      nowMs,
      nowMs,
      scan.id,
    ),
  ]);
  return [scan.id, ...rows.map(({ id }) => id)];
}

/** What a try came to. */
export interface TriedScan extends Pick<StoredScan, 'state' | 'tries' | 'dueAtMs' | 'outcome' | 'hashes'> {
  /** The fresh transactions that this try ended, by whether the vault has them now. */
  readonly added: number;
  readonly unrecorded: number;
}

/**
 * Stores the result of a try. A row that another try has changed meanwhile does not change, so no
 * transaction counts twice, and a transaction that the other try ended is counted there.
 *
 * @param before the row as the try read it
 * @param tried.hashes the transactions that are still to be recorded
 */
export async function updateScan(
  db: D1Database,
  before: Pick<StoredScan, 'id' | 'hashes'>,
  { hashes, added, unrecorded, state, tries, dueAtMs, outcome }: TriedScan,
): Promise<void> {
  const textOf = (list: readonly string[] | null) => (list === null ? null : JSON.stringify(list));
  const isSame = "id = ?1 AND state = 'open' AND hashes IS ?2";
  const [scanId] = before.id.split('.');
  const own = [before.id, textOf(before.hashes)] as const;
  await db.batch([
    db
      .prepare(
        `UPDATE scans SET added = added + ?3, unrecorded = unrecorded + ?4
          WHERE id = ?5 AND EXISTS (SELECT 1 FROM scans WHERE ${isSame})`,
      )
      .bind(...own, added, unrecorded, scanId ?? before.id),
    db
      .prepare(`UPDATE scans SET state = ?3, tries = ?4, due_at_ms = ?5, outcome = ?6, hashes = ?7 WHERE ${isSame}`)
      .bind(...own, state, tries, dueAtMs, outcome, textOf(hashes)),
  ]);
}
