import type { Notification } from '#domain/activity/notification.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { NotificationSubjectId, NotificationWork } from '#objects/vault/commands/notifications.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { PushMessage, PushOutcome } from '#push/send.ts';
import { sendPush } from '#push/send.ts';
import type { PushSettings } from '#push/settings.ts';
import { pushSettings } from '#push/settings.ts';
import type { PushSubscriptionRow } from '#store/push-subscriptions.ts';
import { removeSubscription, subscriptionsOfAll } from '#store/push-subscriptions.ts';

/** A busy push service is called once more and then skipped, because no other work waits for it. */
const TRIES = 2;
/** An invocation is limited to a thousand subrequests, and each push may need two. */
const MAX_PUSHES = 400;

/**
 * Notifies the members of a vault, each in every subscribed browser. The notifications of one vault
 * are sent together: one call reads all of them from the vault, and one query the subscriptions. A
 * failed push is dropped, because the record is in the list anyway. After an interruption everyone
 * is notified again; the later message replaces the earlier one.
 */
export async function notify(
  env: CoordinatorEnv,
  vault: VaultDoors,
  ids: readonly NotificationSubjectId[],
): Promise<void> {
  const settings = pushSettings(env.WEB_PUSH);
  const changes = settings === null ? [] : await vault.work({ type: 'notificationWork', ids });
  if (settings === null || changes.length === 0) return;
  const userIds = new Set(changes.flatMap(({ notification }) => notification.userIds));
  const subscriptions = await subscriptionsOfAll(env.DB, [...userIds]);
  const tasks = withinReach(changes.map((one) => ({ ...one, readers: readersOf(one.notification, subscriptions) })));
  const outcomes = await Promise.all(
    tasks.flatMap((task) =>
      task.readers.map(async (reader) => ({ reader, outcome: await push(settings, reader, messageOf(task)) })),
    ),
  );
  // This comes first, so that a later failure does not cause repeated notifications.
  await vault.report({ type: 'completeNotifications', delivered: tasks.map(({ id, version }) => ({ id, version })) });
  const unsubscribed = new Set(outcomes.filter(({ outcome }) => outcome === 'gone').map(({ reader }) => reader));
  await Promise.all([...unsubscribed].map(({ userId, id }) => removeSubscription(env.DB, userId, id)));
}

interface PushTask extends NotificationWork {
  readonly readers: readonly PushSubscriptionRow[];
}

/**
 * Returns the notifications that fit into one invocation. The others stay in the outbox, and follow
 * with a later message.
 */
function withinReach(tasks: readonly PushTask[]): readonly PushTask[] {
  const taken: PushTask[] = [];
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

function messageOf({ id, vaultId, notification: { kind, title, body } }: NotificationWork): PushMessage {
  return { kind, title, body, transactionId: id, vaultId };
}

async function push(settings: PushSettings, to: PushSubscriptionRow, message: PushMessage): Promise<PushOutcome> {
  let outcome: PushOutcome = 'failed';
  for (let i = 0; i < TRIES && outcome === 'failed'; i++) outcome = await sendPush(settings, to, message);
  return outcome;
}
