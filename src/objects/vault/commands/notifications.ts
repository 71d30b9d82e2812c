import * as z from 'zod';
import { findChain } from '#chains/families/registry.ts';
import { ROLES } from '#domain/access/member.ts';
import type { CredentialResetId, PolicyChangeId, TransactionId, VaultId } from '#domain/id.ts';
import { parseCredentialResetId, parsePolicyChangeId, parseUserId } from '#domain/id.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import type { Notification } from '#domain/activity/notification.ts';
import { notificationOf, notificationOfActivity } from '#domain/activity/notification.ts';
import {
  notificationOfChange,
  notificationOfEvent,
  notificationOfExport,
  notificationOfReset,
} from '#domain/activity/vault-notification.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { NOTIFICATION_MS } from '#objects/outbox.ts';
import { EXPORT_REQUESTED } from '#objects/vault/writes/recovery-exports.ts';
import type { VaultContext } from '#objects/vault/context.ts';

/** The subject of a notification. A transaction id without a record stands for the vault. */
export type NotificationSubjectId = TransactionId | PolicyChangeId | CredentialResetId;

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
  if (vault === null) return null;
  const resetId = parseCredentialResetId(id);
  if (resetId !== null) {
    const reset = storage.resets.read(resetId);
    return reset === null ? null : notificationOfReset(reset, vault);
  }
  const changeId = parsePolicyChangeId(id);
  if (changeId !== null) return notificationOfPolicy(context, vault, changeId);
  const transaction = storage.transaction(id);
  const record = transaction ?? storage.activities.read(id);
  if (record === null) return notificationOfLine(context, vault, version);
  const chain = findChain(chains, record.chain);
  if (chain === null || isOld(record.updatedAtMs)) return null;
  return 'intent' in record ? notificationOf(record, vault, chain) : notificationOfActivity(record, vault, chain);
}

function notificationOfPolicy({ storage }: VaultContext, vault: Vault, id: PolicyChangeId): Notification | null {
  const change = storage.policies.change(id);
  if (change === null || isOld(change.updatedAtMs)) return null;
  const before = storage.policies.adoptedAs(change.policy.version - 1)?.policy ?? change.policy;
  return notificationOfChange(change, vault, before);
}

/** What a notification reads in the detail of a history entry. Entries have many other forms. */
const eventDetail = z.object({ userId: z.string().exactOptional(), roles: z.array(z.enum(ROLES)).exactOptional() });

function notificationOfLine(context: VaultContext, vault: Vault, seq: number): Notification | null {
  const [line] = context.storage.history.after(seq - 1, 1);
  if (line === undefined || isOld(line.atMs)) return null;
  if (line.action === EXPORT_REQUESTED) return notificationOfExport(vault);
  const detail = eventDetail.safeParse(jsonIn(line.detail ?? '{}')).data;
  const userId = parseUserId(detail?.userId ?? '');
  return notificationOfEvent({ action: line.action, userId, roles: detail?.roles ?? null }, vault);
}

function isOld(atMs: number): boolean {
  return Date.now() - atMs > NOTIFICATION_MS;
}
