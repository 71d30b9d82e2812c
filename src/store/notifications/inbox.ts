import { and, desc, eq, isNull, lte, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import type { UserId } from '#domain/id.ts';
import { insertRows, jsonTexts } from '#store/json-rows.ts';
import { inbox } from '#store/notifications/schema.ts';

export type InboxRow = typeof inbox.$inferSelect;
export type InboxEntry = Omit<InboxRow, 'readAtMs'>;

/** Ours: the newest entries of a user that are kept. A thief of a token can cause many. */
const MAX_ENTRIES = 500;

/**
 * Stores entries. An entry is unread again when it has a later version. Idempotent: a repeated
 * delivery changes nothing.
 */
export async function putInbox(db: D1Database, entries: readonly InboxEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const put = `${insertRows(inbox)} ON CONFLICT (user_id, id) DO UPDATE SET
    version = excluded.version, at_ms = excluded.at_ms, kind = excluded.kind, title = excluded.title,
    body = excluded.body, vault_id = excluded.vault_id, read_at_ms = NULL
    WHERE excluded.version > inbox.version`;
  const trim = `DELETE FROM inbox WHERE rowid IN (SELECT row FROM (
    SELECT rowid AS row, row_number() OVER (PARTITION BY user_id ORDER BY at_ms DESC) AS place
    FROM inbox WHERE user_id IN (SELECT value FROM json_each(?))) WHERE place > ${MAX_ENTRIES})`;
  const userIds = JSON.stringify([...new Set(entries.map(({ userId }) => userId))]);
  await db.batch([...jsonTexts(entries).map((text) => db.prepare(put).bind(text)), db.prepare(trim).bind(userIds)]);
}

/** What a credential shows of an inbox. */
export interface InboxReader {
  readonly userId: UserId;
  /** The vaults that the credential reaches, without the events of the account; null for all. */
  readonly vaultIds: readonly number[] | null;
}

function readable({ userId, vaultIds }: InboxReader) {
  const ids =
    vaultIds === null ? undefined : sql`vault_id in (select value from json_each(${JSON.stringify(vaultIds)}))`;
  return and(eq(inbox.userId, userId), ids);
}

/** The position of an entry in the list: its time and its subject. */
export type InboxPosition = Pick<InboxRow, 'atMs' | 'id'>;

/** Returns the readable entries after a position, the newest first. */
export function inboxOf(
  db: D1Database,
  reader: InboxReader,
  { after, limit }: { readonly after: InboxPosition | null; readonly limit: number },
): Promise<readonly InboxRow[]> {
  const older = after === null ? undefined : sql`(at_ms, id) < (${after.atMs}, ${after.id})`;
  return drizzle(db)
    .select()
    .from(inbox)
    .where(and(readable(reader), older))
    .orderBy(desc(inbox.atMs), desc(inbox.id))
    .limit(limit);
}

/** Returns the number of readable entries that are unread. */
export async function unreadOf(db: D1Database, reader: InboxReader): Promise<number> {
  return drizzle(db).$count(inbox, and(readable(reader), isNull(inbox.readAtMs)));
}

/** Marks the entries of a user as read, up to the time of one. Idempotent. */
export async function markRead(
  db: D1Database,
  userId: UserId,
  { untilMs, nowMs }: { readonly untilMs: number; readonly nowMs: number },
): Promise<void> {
  await drizzle(db)
    .update(inbox)
    .set({ readAtMs: nowMs })
    .where(and(eq(inbox.userId, userId), isNull(inbox.readAtMs), lte(inbox.atMs, untilMs)));
}

/** Deletes a bounded number of old entries, and returns how many. */
export async function pruneInbox(
  db: D1Database,
  { beforeMs, limit }: { readonly beforeMs: number; readonly limit: number },
): Promise<number> {
  const remove = 'DELETE FROM inbox WHERE rowid IN (SELECT rowid FROM inbox WHERE at_ms < ? LIMIT ?)';
  return (await db.prepare(remove).bind(beforeMs, limit).run()).meta.changes;
}
