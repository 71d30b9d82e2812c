import { getTableName } from 'drizzle-orm';
import type { Notification } from '#domain/activity/notification.ts';
import type { UserId } from '#domain/id.ts';
import { mails } from '#store/notifications/schema.ts';

/** A user who is to get an e-mail of a kind. */
export interface Addressee {
  readonly userId: UserId;
  readonly kind: Notification['kind'];
}

/**
 * Claims e-mails, and returns the addresses of those that were claimed. A user who was sent an
 * e-mail of the kind since a time gets no other one, so a thief of a token cannot flood a mailbox.
 * Claimed before it is sent: a repeated delivery sends no second one.
 */
export async function claimMails(
  db: D1Database,
  addressees: readonly Addressee[],
  { sentBeforeMs, nowMs }: { readonly sentBeforeMs: number; readonly nowMs: number },
): Promise<readonly (Addressee & { readonly email: string })[]> {
  const claim = `INSERT INTO ${getTableName(mails)} (user_id, kind, at_ms)
    SELECT value ->> '$.userId', value ->> '$.kind', ?2 FROM json_each(?1) WHERE true
    ON CONFLICT (user_id, kind) DO UPDATE SET at_ms = excluded.at_ms WHERE mails.at_ms < ?3
    RETURNING user_id AS userId, kind, (SELECT email FROM users WHERE users.id = mails.user_id) AS email`;
  const { results } = await db
    .prepare(claim)
    .bind(JSON.stringify(addressees), nowMs, sentBeforeMs)
    .all<Addressee & { readonly email: string | null }>();
  return results.flatMap(({ email, ...rest }) => (email === null ? [] : [{ ...rest, email }]));
}
