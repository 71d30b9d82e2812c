import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { and, asc, count, inArray, lt, min, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import * as z from 'zod';
import { keyExports } from '#store/operations/schema.ts';

/**
 * Which keys have recovery packages of their present shares. It lives in D1 alone: when it is lost,
 * a key counts as one without packages, and the operator exports once more.
 */

/** The recovery key of a package, in hex, and the co-signer that sealed for it. */
export interface PackageRecipient {
  readonly cosigner: number;
  readonly recoveryKey: string;
}

export interface KeyExport {
  readonly keyId: string;
  /** Since when no complete export has the present shares; null when one has. */
  readonly outdatedSinceMs: number | null;
  /** The last complete export; null without one. */
  readonly exportedAtMs: number | null;
  readonly recipients: readonly PackageRecipient[];
}

/** Stores that a key exists. Idempotent: a known key stays as it is. */
export async function storeKey(
  db: D1Database,
  { vaultId, keyId, nowMs }: { readonly vaultId: number; readonly keyId: string; readonly nowMs: number },
): Promise<void> {
  await drizzle(db).insert(keyExports).values({ keyId, vaultId, outdatedSinceMs: nowMs }).onConflictDoNothing();
}

/** Stores that the shares of a key were refreshed, so that its packages are of an old epoch. */
export async function storeRefresh(
  db: D1Database,
  { vaultId, keyId, nowMs }: { readonly vaultId: number; readonly keyId: string; readonly nowMs: number },
): Promise<void> {
  const outdatedSinceMs = nowMs;
  await drizzle(db)
    .insert(keyExports)
    .values({ keyId, vaultId, outdatedSinceMs })
    .onConflictDoUpdate({ target: keyExports.keyId, set: { outdatedSinceMs } });
}

/**
 * Stores a complete export: a package of each co-signer, all of one epoch. When a refresh ended
 * after `startedAtMs`, the packages may be older than it, so the key stays outdated.
 */
export async function storeExport(
  db: D1Database,
  exported: {
    readonly vaultId: number;
    readonly keyId: string;
    readonly startedAtMs: number;
    readonly recipients: readonly PackageRecipient[];
  },
): Promise<void> {
  const { vaultId, keyId, startedAtMs: exportedAtMs } = exported;
  const recipients = JSON.stringify(exported.recipients);
  const isOlder = sql`${keyExports.outdatedSinceMs} is null or ${keyExports.outdatedSinceMs} < ${exportedAtMs}`;
  const set = { exportedAtMs, recipients, outdatedSinceMs: null };
  await drizzle(db)
    .insert(keyExports)
    .values({ keyId, vaultId, ...set })
    .onConflictDoUpdate({ target: keyExports.keyId, set, setWhere: isOlder });
}

/** Returns what is stored of the keys of a vault. */
export async function exportsOfKeys(db: D1Database, keyIds: readonly string[]): Promise<readonly KeyExport[]> {
  const rows = await drizzle(db)
    .select()
    .from(keyExports)
    .where(inArray(keyExports.keyId, [...keyIds]));
  return rows.map(({ keyId, outdatedSinceMs, exportedAtMs, recipients }) => ({
    keyId,
    outdatedSinceMs,
    exportedAtMs,
    recipients: recipients === null ? [] : recipientsSchema.parse(JSON.parse(recipients)),
  }));
}

const recipientsSchema = z.array(z.strictObject({ cosigner: z.int(), recoveryKey: z.string() }));

/** Returns the queries of the keys that are outdated since before a time: their number and some. */
export function outdatedKeys(
  orm: ReturnType<typeof drizzle>,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
) {
  const isOutdated = and(sql`${keyExports.outdatedSinceMs} is not null`, lt(keyExports.outdatedSinceMs, beforeMs));
  return [
    orm
      .select({ number: count(), sinceMs: min(keyExports.outdatedSinceMs) })
      .from(keyExports)
      .where(isOutdated),
    orm
      .select({ vaultId: keyExports.vaultId, keyId: keyExports.keyId, sinceMs: keyExports.outdatedSinceMs })
      .from(keyExports)
      .where(isOutdated)
      .orderBy(asc(keyExports.outdatedSinceMs))
      .limit(limit),
  ] as const;
}

/** Keys whose shares the co-signers open in one self-test. With the next ones at most eight. */
const TESTED_KEYS = 6;
/** Of the keys with a faulty share, so that a repair is found within a quarter of an hour. */
const TESTED_AGAIN = 2;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Returns some keys, others in each quarter of an hour: those from an id on that the time decides,
 * and from the first one on after the last. Keys with a faulty share are first.
 */
export async function keysToTest(db: D1Database, nowMs: number): Promise<readonly string[]> {
  const quarter = Math.floor(nowMs / (15 * 60_000));
  const hash = sha256(utf8ToBytes(String(quarter)));
  const first = Array.from(hash.slice(0, 8), (byte) => LETTERS[byte % 32]).join('');
  const page = 'SELECT key_id AS keyId FROM key_exports WHERE key_id';
  const faulty = 'SELECT key_id AS keyId FROM share_tests WHERE fault IS NOT NULL GROUP BY key_id';
  const [again, after, before] = await db.batch<{ keyId: string }>([
    // By the time as well: a co-signer that is away keeps its faults, and must not keep others out.
    db.prepare(`${faulty} ORDER BY key_id < ?1, key_id LIMIT ${TESTED_AGAIN}`).bind(first),
    db.prepare(`${page} >= ?1 ORDER BY key_id LIMIT ${TESTED_KEYS}`).bind(first),
    db.prepare(`${page} < ?1 ORDER BY key_id LIMIT ${TESTED_KEYS}`).bind(first),
  ]);
  const others = [...(after?.results ?? []), ...(before?.results ?? [])].slice(0, TESTED_KEYS);
  return [...new Set([...(again?.results ?? []), ...others].map(({ keyId }) => keyId))];
}
