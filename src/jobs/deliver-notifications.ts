import type { Notification } from '#domain/activity/notification.ts';
import { isInboxKind } from '#domain/activity/notification.ts';
import type { VaultId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { isMailed, sendMail } from '#notifications/mail/send.ts';
import type { MailSettings } from '#notifications/mail/settings.ts';
import { mailSettings } from '#notifications/mail/settings.ts';
import type { PushMessage, PushOutcome } from '#notifications/push/send.ts';
import { sendPush } from '#notifications/push/send.ts';
import type { PushSettings } from '#notifications/push/settings.ts';
import { pushSettings } from '#notifications/push/settings.ts';
import { errorText } from '#store/error-text.ts';
import { putInbox } from '#store/notifications/inbox.ts';
import type { PushSubscriptionRow } from '#store/notifications/push-subscriptions.ts';
import { claimMails } from '#store/notifications/mails.ts';
import { removeSubscription, subscriptionsOfAll } from '#store/notifications/push-subscriptions.ts';

/** A busy push service is called once more and then skipped, because no other work waits for it. */
const TRIES = 2;
/** An invocation is limited to a thousand subrequests, and each push may need two. */
const MAX_PUSHES = 400;
/** Of the other subrequests, some are for D1. */
const MAX_MAILS = 100;
/** Ours: a person gets one e-mail of a kind in this time. The inbox has all events. */
const MAIL_PAUSE_MS = 10 * 60 * 1000;

/** A notification that is due. */
export interface DueNotification {
  /** The subject. A later notification of the same subject replaces this one. */
  readonly id: string;
  /** Grows with each event of the subject. */
  readonly version: number;
  /** Null for an event of an account. */
  readonly vaultId: VaultId | null;
  readonly notification: Notification;
}

/**
 * Delivers notifications: into the inbox of each recipient, and into every subscribed browser. A
 * recipient without one gets an e-mail. A failed push is dropped, because the record or the inbox
 * has the event. After an interruption
 * everyone is notified again; the later message replaces the earlier one.
 *
 * @param complete records that these are delivered, before anything that may fail afterwards
 */
export async function deliver<T extends DueNotification>(
  env: CoordinatorEnv,
  due: readonly T[],
  complete: (delivered: readonly T[]) => Promise<void>,
): Promise<void> {
  const settings = pushSettings(env.WEB_PUSH);
  const mail = mailSettings(env.EMAIL_NOTIFICATIONS);
  const userIds = new Set(due.flatMap(({ notification }) => notification.userIds));
  const subscriptions = settings === null ? [] : await subscriptionsOfAll(env.DB, [...userIds]);
  const tasks = withinReach(due.map((one) => ({ one, readers: readersOf(one.notification, subscriptions) })));
  const delivered = tasks.map(({ one }) => one);
  await putInbox(env.DB, entriesOf(delivered, Date.now()));
  const outcomes = settings === null ? [] : await pushAll(settings, tasks);
  if (mail !== null) await mailRest(env, mail, { due: delivered, subscriptions });
  // This comes first, so that a later failure does not cause repeated notifications.
  await complete(delivered);
  const unsubscribed = new Set(outcomes.filter(({ outcome }) => outcome === 'gone').map(({ reader }) => reader));
  await Promise.all([...unsubscribed].map(({ userId, id }) => removeSubscription(env.DB, userId, id)));
}

function entriesOf(due: readonly DueNotification[], atMs: number) {
  return due.flatMap(({ id, version, vaultId, notification: { kind, userIds, title, body } }) =>
    isInboxKind(kind) ? userIds.map((userId) => ({ userId, id, version, atMs, kind, title, body, vaultId })) : [],
  );
}

/**
 * Sends an e-mail to each recipient without a subscription. It names no event: the inbox has them.
 * A failed one is logged and dropped.
 */
async function mailRest(
  env: CoordinatorEnv,
  settings: MailSettings,
  {
    due,
    subscriptions,
  }: { readonly due: readonly DueNotification[]; readonly subscriptions: readonly PushSubscriptionRow[] },
): Promise<void> {
  const subscribed = new Set(subscriptions.map(({ userId }) => userId));
  const addressees = due
    .filter(({ notification }) => isMailed(notification.kind))
    .flatMap(({ notification: { kind, userIds } }) => userIds.map((userId) => ({ userId, kind })))
    .filter(({ userId }) => !subscribed.has(userId));
  const unique = [...new Map(addressees.map((one) => [`${one.userId} ${one.kind}`, one])).values()];
  if (unique.length === 0) return;
  const nowMs = Date.now();
  const mails = await claimMails(env.DB, unique.slice(0, MAX_MAILS), { nowMs, sentBeforeMs: nowMs - MAIL_PAUSE_MS });
  await Promise.all(
    mails.map(async ({ email, kind }) => {
      try {
        await sendMail(settings, env.EMAIL ?? null, { to: email, kind });
      } catch (error) {
        console.error(JSON.stringify({ event: 'mail-failed', kind, error: errorText(error) }));
      }
    }),
  );
}

interface PushTask<T extends DueNotification> {
  readonly one: T;
  readonly readers: readonly PushSubscriptionRow[];
}

/**
 * Returns the notifications that fit into one invocation. The others follow with a later message.
 */
function withinReach<T extends DueNotification>(tasks: readonly PushTask<T>[]): readonly PushTask<T>[] {
  const taken: PushTask<T>[] = [];
  let room = MAX_PUSHES;
  for (const task of tasks) {
    if (taken.length > 0 && task.readers.length > room) break;
    taken.push({ ...task, readers: task.readers.slice(0, MAX_PUSHES) });
    room -= task.readers.length;
  }
  return taken;
}

function readersOf(
  { userIds }: Notification,
  subscriptions: readonly PushSubscriptionRow[],
): readonly PushSubscriptionRow[] {
  return subscriptions.filter(({ userId }) => userIds.some((reader) => reader === userId));
}

function pushAll(settings: PushSettings, tasks: readonly PushTask<DueNotification>[]) {
  return Promise.all(
    tasks.flatMap(({ one, readers }) =>
      readers.map(async (reader) => ({ reader, outcome: await push(settings, reader, messageOf(one)) })),
    ),
  );
}

function messageOf({ id, vaultId, notification: { kind, title, body } }: DueNotification): PushMessage {
  return { kind, title, body, transactionId: id, vaultId };
}

async function push(settings: PushSettings, to: PushSubscriptionRow, message: PushMessage): Promise<PushOutcome> {
  let outcome: PushOutcome = 'failed';
  for (let i = 0; i < TRIES && outcome === 'failed'; i++) outcome = await sendPush(settings, to, message);
  return outcome;
}
