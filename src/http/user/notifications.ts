import * as z from 'zod';
import { INBOX_KINDS } from '#domain/activity/notification.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { cursorText, pageOf } from '#http/edge/page.ts';
import type { InboxPosition, InboxReader, InboxRow } from '#store/notifications/inbox.ts';
import { inboxOf, markRead, unreadOf } from '#store/notifications/inbox.ts';

const PAGE = 50;

const notificationsQuery = z.strictObject({
  cursor: z
    .string()
    .max(128)
    .refine((text) => readCursor(text) !== null, 'Must be a cursor of this list.')
    .optional(),
});

const time = z.iso.datetime();

const notificationSchema = z
  .strictObject({
    id: z.string().meta({ description: 'The subject. A later event of the same subject replaces this one' }),
    kind: z.enum(INBOX_KINDS),
    title: z.string(),
    body: z.string(),
    vaultId: z.int().nullable().meta({ description: 'null for an event of the account of the caller' }),
    createdAt: time,
    readAt: time.nullable(),
  })
  .meta({ id: 'Notification' });

/**
 * GET /user/me/notifications: returns the inbox of the caller, newest first, 50 per page: changes
 * of the policy, the members and their access in the vaults of the caller, and changes of the
 * credentials of the caller. A token that reaches some vaults alone reads their notifications.
 * Entries are kept for 90 days, at most 500 of them.
 */
export const ownNotifications = route({
  method: 'GET',
  path: '/user/me/notifications',
  access: 'read',
  summary: 'List the notifications of your inbox, newest first',
  query: notificationsQuery,
  answer: {
    status: 200,
    schema: z
      .strictObject({
        data: z.array(notificationSchema),
        nextCursor: z.string().nullable(),
        unread: z.int().meta({ description: 'Number of unread entries on all pages' }),
      })
      .meta({ id: 'NotificationList' }),
  },
  refuses: [],
  handle: async (context: HttpContext, { query }: Input<{ query: typeof notificationsQuery }>) => {
    const { DB: db } = context.env;
    const reader = readerOf(context);
    const after = query.cursor === undefined ? null : readCursor(query.cursor);
    const [rows, unread] = await Promise.all([
      // One extra row shows whether there is another page.
      inboxOf(db, reader, { after, limit: PAGE + 1 }),
      unreadOf(db, reader),
    ]);
    const { shown, nextCursor } = pageOf(rows, PAGE, ({ atMs, id }) => btoa(`${atMs} ${id}`));
    return context.json({ data: shown.flatMap(notificationRecord), nextCursor, unread });
  },
});

const readBody = z
  .strictObject({ until: time.meta({ description: '`createdAt` of the newest entry that was read' }) })
  .meta({ examples: [{ until: '2026-11-29T10:00:00.000Z' }] });

/**
 * POST /user/me/notifications/read: marks the entries of the inbox of the caller as read, up to a
 * time. Idempotent.
 */
export const readNotifications = route({
  method: 'POST',
  path: '/user/me/notifications/read',
  access: 'write',
  scope: 'create',
  summary: 'Mark notifications as read',
  body: readBody,
  answer: { status: 204, schema: null },
  refuses: [],
  handle: async (context: HttpContext, { body: { until } }: Input<{ body: typeof readBody }>) => {
    const { user } = context.get('caller');
    await markRead(context.env.DB, user.id, { untilMs: Date.parse(until), nowMs: Date.now() });
    return context.body(null, 204);
  },
});

function readerOf(context: HttpContext): InboxReader {
  const { user, token } = context.get('caller');
  return { userId: user.id, vaultIds: token?.vaultIds ?? null };
}

/** Leaves out a row of a kind that this release does not know. */
function notificationRecord({ id, kind, title, body, vaultId, atMs, readAtMs }: InboxRow) {
  const known = INBOX_KINDS.find((one) => one === kind);
  if (known === undefined) return [];
  const readAt = readAtMs === null ? null : rfc3339(readAtMs);
  return [{ id, kind: known, title, body, vaultId, createdAt: rfc3339(atMs), readAt }];
}

function readCursor(text: string): InboxPosition | null {
  const [, at = '', id] = /^([0-9]{1,15}) (\S{1,64})$/.exec(cursorText(text) ?? '') ?? [];
  return id === undefined ? null : { atMs: Number.parseInt(at, 10), id };
}
