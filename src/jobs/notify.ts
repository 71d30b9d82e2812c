import { notificationOfCredential } from '#domain/activity/account-notification.ts';
import type { TokenId } from '#domain/id.ts';
import { deliver } from '#jobs/deliver-notifications.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { NotificationSubjectId } from '#objects/vault/commands/notifications.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/**
 * Notifies the members of a vault. The notifications of one vault are delivered together: one call
 * reads all of them from the vault, and one query the subscriptions.
 */
export async function notify(
  env: CoordinatorEnv,
  vault: VaultDoors,
  ids: readonly NotificationSubjectId[],
): Promise<void> {
  const due = await vault.work({ type: 'notificationWork', ids });
  if (due.length === 0) return;
  await deliver(env, due, async (delivered) => {
    const rows = delivered.map(({ id, version }) => ({ id, version }));
    await vault.report({ type: 'completeNotifications', delivered: rows });
  });
}

/** Notifies the owner of an access token of the events of the token. */
export async function notifyOwner(env: CoordinatorEnv, tokenId: TokenId): Promise<void> {
  const token = env.ACCESS_TOKEN.getByName(`token:${tokenId}`);
  const open = await token.openEvents();
  if (open === null) return;
  const due = open.events.map((event) => ({
    id: `${tokenId}.${event.kind}`,
    version: event.number,
    vaultId: null,
    notification: notificationOfCredential(event, open),
  }));
  await deliver(env, due, async (delivered) => {
    await token.completeEvents(Math.max(...delivered.map(({ version }) => version)));
  });
}
