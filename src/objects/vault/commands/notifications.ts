import { findChain } from '#chains/families/registry.ts';
import type { CredentialResetId, TransactionId, VaultId } from '#domain/id.ts';
import { parseCredentialResetId } from '#domain/id.ts';
import type { Notification } from '#domain/activity/notification.ts';
import {
  notificationOf,
  notificationOfActivity,
  notificationOfExport,
  notificationOfReset,
} from '#domain/activity/notification.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { NOTIFICATION_MS } from '#objects/outbox.ts';
import { EXPORT_REQUESTED } from '#objects/vault/writes/recovery-exports.ts';
import type { VaultContext } from '#objects/vault/context.ts';

/** The subject of a notification. */
export type NotificationSubjectId = TransactionId | CredentialResetId;

/** A delivered notification, and the outbox row that requested it. */
export interface DeliveredNotification {
  readonly id: NotificationSubjectId;
  readonly version: number;
}

/** A notification that is due. */
export interface NotificationWork extends DeliveredNotification {
  readonly vaultId: VaultId;
  readonly notification: Notification;
}

/** The commands for notifications of a vault's members. */

/**
 * Returns the due notifications among these subjects, for the consumers. A subject without
 * recipients is completed.
 */
export async function notificationWork(
  context: VaultContext,
  { ids }: { readonly ids: readonly NotificationSubjectId[] },
): Promise<readonly NotificationWork[]> {
  const vaultId = context.vault()?.id ?? null;
  const queued = [...new Set(ids)].flatMap((id) => {
    const row = context.storage.queuedJob(id, 'notify');
    return row === null ? [] : [{ id, version: row.version, notification: notificationFor(context, id, row.version) }];
  });
  const changes = queued.flatMap(({ notification, ...row }) =>
    vaultId === null || notification === null || notification.userIds.length === 0
      ? []
      : [{ ...row, vaultId, notification }],
  );
  await completeNotifications(context, { delivered: queued.filter(({ id }) => !changes.some((one) => one.id === id)) });
  return changes;
}

/**
 * Completes the notifications after delivery, as far as it was possible. A change since then is
 * notified, too.
 */
export async function completeNotifications(
  context: VaultContext,
  { delivered }: { readonly delivered: readonly DeliveredNotification[] },
): Promise<void> {
  const { storage, commits } = context;
  const current = delivered.filter(({ id, version }) => storage.queuedJob(id, 'notify')?.version === version);
  if (current.length === 0) return;
  await commits.run(() => {
    for (const { id } of current) storage.completeJob(id, 'notify');
  });
}

/**
 * Returns the notification of a subject, or null.
 *
 * @param version of the record; for the vault itself, the number of its history entry
 */
function notificationFor(context: VaultContext, id: NotificationSubjectId, version: number): Notification | null {
  const { storage, chains } = context;
  const vault = context.vault();
  const resetId = parseCredentialResetId(id);
  if (resetId !== null) {
    const reset = storage.resets.read(resetId);
    return vault === null || reset === null ? null : notificationOfReset(reset, vault);
  }
  const transaction = storage.transaction(id);
  const record = transaction ?? storage.activities.read(id);
  if (vault !== null && record === null) return notificationOfLine(context, vault, version);
  const chain = record === null ? null : findChain(chains, record.chain);
  if (vault === null || record === null || chain === null) return null;
  if (Date.now() - record.updatedAtMs > NOTIFICATION_MS) return null;
  return 'intent' in record ? notificationOf(record, vault, chain) : notificationOfActivity(record, vault, chain);
}

function notificationOfLine(context: VaultContext, vault: Vault, seq: number): Notification | null {
  const [line] = context.storage.history.after(seq - 1, 1);
  if (line?.action !== EXPORT_REQUESTED || Date.now() - line.atMs > NOTIFICATION_MS) return null;
  return notificationOfExport(vault);
}
