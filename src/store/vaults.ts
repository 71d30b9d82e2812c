import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { and, asc, desc, eq, inArray, isNull, lt, lte, ne, or } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { members, users, vaults, wallets } from '#store/schema.ts';

/**
 * Returns the id of the vault with this reference: a new one, or the existing one. An operator
 * whose answer was lost repeats the request and gets the same vault.
 */
export async function allocateVault(
  db: D1Database,
  vault: { readonly name: string; readonly reference: string; readonly createdAtMs: number },
): Promise<number> {
  const orm = drizzle(db);
  await orm.insert(vaults).values(vault).onConflictDoNothing();
  const [found] = await orm.select({ id: vaults.id }).from(vaults).where(eq(vaults.reference, vault.reference));
  if (found === undefined) throw new Error('a vault that was just inserted cannot be read');
  return found.id;
}

/**
 * Stores a vault's own description of itself. Idempotent. If the directory was reset to an older
 * state, a later vault that was given this number or reference loses it: the vaults that exist were
 * first.
 */
export async function upsertVault(
  db: D1Database,
  vault: {
    readonly id: number;
    readonly name: string;
    readonly reference: string;
    readonly createdAtMs: number;
    readonly pendingChanges: number;
    /** The length of the vault's history at this state. */
    readonly seq: number;
  },
): Promise<void> {
  const orm = drizzle(db);
  const { id, name, reference, createdAtMs, pendingChanges, seq } = vault;
  const entry = { name, reference, createdAtMs };
  await orm.batch([
    orm.delete(vaults).where(and(eq(vaults.reference, reference), ne(vaults.id, vault.id))),
    orm
      .insert(vaults)
      .values({ id, ...entry })
      .onConflictDoUpdate({ target: vaults.id, set: entry }),
    // A projection can arrive late. An old zero would hide a new change; an old number hides none.
    orm
      .update(vaults)
      .set({ pendingChanges, pendingChangesSeq: seq })
      .where(
        and(
          eq(vaults.id, id),
          pendingChanges > 0 ? undefined : or(isNull(vaults.pendingChangesSeq), lte(vaults.pendingChangesSeq, seq)),
        ),
      ),
  ]);
}

/**
 * Inserts the addresses of a vault's key. Idempotent: an address belongs to one vault permanently.
 */
export async function upsertWallets(
  db: D1Database,
  entry: { readonly vaultId: number; readonly keyId: string; readonly addresses: Readonly<Record<string, string>> },
): Promise<void> {
  const rows = Object.entries(entry.addresses).map(([chain, address]) => ({
    chain,
    address,
    vaultId: entry.vaultId,
    keyId: entry.keyId,
  }));
  const insert = `${insertRows(wallets)} ON CONFLICT DO NOTHING`;
  for (const text of jsonTexts(rows)) await db.prepare(insert).bind(text).run();
}

/** Returns the names of the chains on which vaults have wallets. */
export async function chainsWithWallets(db: D1Database): Promise<readonly string[]> {
  const rows = await drizzle(db).selectDistinct({ chain: wallets.chain }).from(wallets).orderBy(asc(wallets.chain));
  return rows.map(({ chain }) => chain);
}

/** Replaces the members of a vault. Idempotent. */
export async function replaceMembers(db: D1Database, vaultId: number, userIds: readonly string[]): Promise<void> {
  // One text, because a list of ids would exceed D1's limit of a hundred parameters.
  const ids = JSON.stringify(userIds);
  const leaving = 'DELETE FROM members WHERE vault_id = ?1 AND user_id NOT IN (SELECT value FROM json_each(?2))';
  const joining = 'INSERT OR IGNORE INTO members (vault_id, user_id) SELECT ?1, value FROM json_each(?2)';
  await db.batch([db.prepare(leaving).bind(vaultId, ids), db.prepare(joining).bind(vaultId, ids)]);
}

/** SQLite reads every row with a negative limit. */
const NO_LIMIT = -1;

interface VaultEntry {
  readonly id: number;
  readonly name: string;
}

interface VaultQuery {
  /** Lists the vaults below this id; null for all. */
  readonly before: number | null;
  /** Lists these vaults alone; null for all. */
  readonly among: readonly number[] | null;
  /** Null for no limit. */
  readonly limit: number | null;
}

/** Returns the vaults of a user that the directory lists, the newest first. */
export async function vaultsOf(
  db: D1Database,
  userId: string,
  { before, among, limit }: VaultQuery,
): Promise<readonly VaultEntry[]> {
  const older = before === null ? undefined : lt(vaults.id, before);
  const listed = among === null ? undefined : inArray(vaults.id, [...among]);
  return drizzle(db)
    .select({ id: vaults.id, name: vaults.name })
    .from(members)
    .innerJoin(vaults, eq(vaults.id, members.vaultId))
    .where(and(eq(members.userId, userId), older, listed))
    .orderBy(desc(vaults.id))
    .limit(limit ?? NO_LIMIT);
}

/** Returns every vault that the directory lists for a user. */
export async function vaultIdsOf(db: D1Database, userId: string): Promise<readonly number[]> {
  const rows = await drizzle(db).select({ id: members.vaultId }).from(members).where(eq(members.userId, userId));
  return rows.map(({ id }) => id);
}

/** The vaults of a user in which something may be pending, as the read model has them. */
export interface PendingVaults {
  /** Newest first. */
  readonly ids: readonly number[];
  /**
   * Changes when something in them starts to be pending, is decided in part, or ends. It can also
   * change when nothing changed for this user.
   */
  readonly position: string;
}

/**
 * Returns the vaults of a user in which something may be pending: a transaction in the read model,
 * a policy change or a credential reset by the vault's own count, or unknown.
 *
 * @param pendingStates the states of a transaction that waits for decisions
 */
export async function pendingVaults(
  db: D1Database,
  userId: string,
  pendingStates: readonly string[],
): Promise<PendingVaults> {
  const waiting = `SELECT json_array(count(*), sum(version), max(id)) FROM transactions INDEXED BY transactions_state
    WHERE vault_id = m.vault_id AND state IN (SELECT value FROM json_each(?2)) HAVING count(*) > 0`;
  // The history has a line for each decision on a policy change and for each credential reset.
  const query = `SELECT m.vault_id AS id, v.pending_changes AS changes, (${waiting}) AS waiting,
      iif(v.pending_changes > 0, (SELECT max(seq) FROM audit WHERE vault_id = m.vault_id), NULL) AS seq
    FROM members AS m LEFT JOIN vaults AS v ON v.id = m.vault_id
    WHERE m.user_id = ?1 AND (changes IS NULL OR changes > 0 OR waiting IS NOT NULL) ORDER BY m.vault_id DESC`;
  const { results } = await db.prepare(query).bind(userId, JSON.stringify(pendingStates)).all<{ id: number }>();
  const position = bytesToHex(sha256(new TextEncoder().encode(JSON.stringify(results))));
  return { ids: results.map(({ id }) => id), position };
}

export interface MemberName {
  readonly vaultId: number;
  readonly userId: string;
  readonly name: string;
}

/** Returns the listed members of these vaults, by name. One statement takes a hundred vaults. */
export async function membersOf(db: D1Database, vaultIds: readonly number[]): Promise<readonly MemberName[]> {
  const orm = drizzle(db);
  return orm
    .select({ vaultId: members.vaultId, userId: users.id, name: users.name })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(inArray(members.vaultId, [...vaultIds]))
    .orderBy(asc(users.name), asc(users.id));
}

/**
 * Returns the vaults that were not woken since a time, the oldest first, and marks them as woken
 * now.
 */
export async function claimVaultsToWake(
  db: D1Database,
  query: { readonly wokenBeforeMs: number; readonly nowMs: number; readonly limit: number },
): Promise<readonly number[]> {
  const orm = drizzle(db);
  const oldest = orm
    .select({ id: vaults.id })
    .from(vaults)
    .where(lt(vaults.nudgedAtMs, query.wokenBeforeMs))
    .orderBy(asc(vaults.nudgedAtMs))
    .limit(query.limit);
  // One statement, because a list of ids would exceed D1's limit of a hundred parameters.
  const taken = await orm
    .update(vaults)
    .set({ nudgedAtMs: query.nowMs })
    .where(inArray(vaults.id, oldest))
    .returning({ id: vaults.id });
  return taken.map(({ id }) => id);
}

/** Stores what vault objects have just reported to the sweep. */
export async function storeReports(
  db: D1Database,
  reports: ReadonlyMap<number, { readonly bytes: number; readonly passkeyOrigins: readonly string[] }>,
): Promise<void> {
  const rows = JSON.stringify([...reports].map(([id, { bytes, passkeyOrigins }]) => ({ id, bytes, passkeyOrigins })));
  const update = `UPDATE vaults SET size_bytes = read.value ->> '$.bytes', passkey_origins = read.value -> '$.passkeyOrigins'
    FROM json_each(?) AS read WHERE vaults.id = read.value ->> '$.id'`;
  await db.prepare(update).bind(rows).run();
}

/** Returns the origins of passkeys in policies in force, and how many vaults have each. */
export async function readPasskeyOrigins(
  db: D1Database,
  limit: number,
): Promise<readonly { readonly origin: string; readonly vaults: number }[]> {
  const query = `SELECT origin.value AS origin, count(*) AS vaults
    FROM vaults, json_each(vaults.passkey_origins) AS origin GROUP BY origin.value ORDER BY count(*) DESC, 1 LIMIT ?`;
  return (await db.prepare(query).bind(limit).all<{ origin: string; vaults: number }>()).results;
}
