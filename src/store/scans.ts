import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { and, eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import * as z from 'zod';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
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

/**
 * Stores a scan of a chain's blocks for one wallet. Returns null when the same scan was just
 * completed.
 */
export async function requestScan(db: D1Database, request: ScanRequest, nowMs: number): Promise<string | null> {
  const { vaultId, chain, address, sinceBlock, differsAt } = request;
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
  const orm = drizzle(db);
  const [, [kept]] = await orm.batch([
    orm
      .insert(scans)
      .values({ id, vaultId, chain, address, sinceBlock, ...fresh })
      .onConflictDoNothing(),
    orm.select({ state: scans.state }).from(scans).where(eq(scans.id, id)),
  ]);
  return kept?.state === 'open' ? id : null;
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

/**
 * Stores what a scan has found, and returns the ids of the rows that have it: the first group stays
 * with the scan, and each other group becomes a row of its own, with its own retries.
 *
 * All of it is stored at once or nothing is. When the blocks are read a second time, by a repeated
 * message or after a crash, the list of the first reading stays: a second list can have another
 * order, and groups of both would leave hashes out.
 */
export async function storeHashes(
  db: D1Database,
  scan: StoredScan,
  { groups, nowMs }: { readonly groups: readonly (readonly string[])[]; readonly nowMs: number },
): Promise<readonly string[]> {
  const fresh = { startedAtMs: nowMs, tries: 0, dueAtMs: nowMs, outcome: null };
  const rows = groups.map((hashes, i) => {
    const id = i === 0 ? scan.id : `${scan.id}.${i}`;
    return { ...scan, ...fresh, id, hashes: JSON.stringify(hashes) };
  });
  const [own, ...others] = rows;
  const isUnread = "SELECT 1 FROM scans WHERE id = ? AND state = 'open' AND hashes IS NULL";
  const insert = db.prepare(`${insertRows(scans)} AND EXISTS (${isUnread})`);
  const keep = db.prepare(
    `UPDATE scans SET hashes = ?, started_at_ms = ?, tries = 0, due_at_ms = ?, outcome = NULL
      WHERE id = ? AND state = 'open' AND hashes IS NULL`,
  );
  await db.batch([
    ...jsonTexts(others).map((text) => insert.bind(text, scan.id)),
    keep.bind(own?.hashes ?? '[]', nowMs, nowMs, scan.id),
  ]);
  return [scan.id, ...others.map(({ id }) => id)];
}

/**
 * Stores the result of a try. A scan that has ended meanwhile does not change.
 *
 * @param change.hashes the transactions that are still to be recorded; null leaves them as they are
 */
export async function updateScan(
  db: D1Database,
  id: string,
  { hashes, ...change }: Pick<StoredScan, 'state' | 'tries' | 'dueAtMs' | 'outcome' | 'hashes'>,
): Promise<void> {
  const isOpen = and(eq(scans.id, id), eq(scans.state, 'open'));
  const left = hashes === null ? {} : { hashes: JSON.stringify(hashes) };
  await drizzle(db)
    .update(scans)
    .set({ ...change, ...left })
    .where(isOpen);
}
