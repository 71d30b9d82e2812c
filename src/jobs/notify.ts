import type { TransactionId } from '#domain/id.ts';
import { vaultOfTransaction } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';
import type { PushOutcome } from '#push/send.ts';
import { sendPush } from '#push/send.ts';
import { pushSettings } from '#push/settings.ts';
import { removeSubscription, subscriptionsOfAll } from '#store/push-subscriptions.ts';

/** A push service that is busy is asked once more, and then left in peace: nothing waits for it. */
const TRIES = 2;

/**
 * Tells the members of a vault (spec part 6 rule 5), each in every browser that has subscribed. What can not be reached is not reached:
 * the record is in the list all the same. Cut off in the middle, everybody is told again; the later message takes the place of the
 * earlier one.
 */
export async function notify(
  env: CoordinatorEnv,
  vault: DurableObjectStub<VaultObject>,
  id: TransactionId,
): Promise<void> {
  const settings = pushSettings(env.WEB_PUSH);
  const work = settings === null ? null : await vault.notificationWork(id);
  if (settings === null || work === null) return;
  const { kind, title, body, userIds } = work.notification;
  const message = { kind, title, body, transactionId: id, vaultId: vaultOfTransaction(id) };
  const subscriptions = await subscriptionsOfAll(env.DB, userIds);
  await Promise.all(
    subscriptions.map(async (subscription) => {
      let outcome: PushOutcome = 'failed';
      for (let i = 0; i < TRIES && outcome === 'failed'; i++) outcome = await sendPush(settings, subscription, message);
      if (outcome === 'gone') await removeSubscription(env.DB, subscription.userId, subscription.id);
    }),
  );
  await vault.recordNotified(id, work.version);
}
