import { findChain } from '#chains/registry.ts';
import type { TransactionId } from '#domain/id.ts';
import type { Notification } from '#domain/notification.ts';
import { notificationOf, notificationOfActivity } from '#domain/notification.ts';
import { NOTIFICATION_MS } from '#objects/outbox.ts';
import type { VaultHost } from '#objects/vault-host.ts';

/** Somebody to be told, and the row of the outbox that says so. */
export interface NotificationWork {
  readonly notification: Notification;
  readonly version: number;
}

/** What the members of a vault are told when they look elsewhere. */
export class NotificationDesk {
  readonly #host: VaultHost;

  constructor(host: VaultHost) {
    this.#host = host;
  }

  /** For the consumers; null when nobody is to be told (any more). */
  async work(id: TransactionId): Promise<NotificationWork | null> {
    const { storage } = this.#host;
    const row = storage.owed(id, 'notify');
    if (row === null) return null;
    const notification = this.#notification(id);
    if (notification !== null && notification.userIds.length > 0) return { notification, version: row.version };
    await this.done(id, row.version);
    return null;
  }

  /** They were told, as far as they could be reached. What has changed since is told as well. */
  async done(id: TransactionId, version: number): Promise<void> {
    const { storage, commits } = this.#host;
    if (storage.owed(id, 'notify')?.version !== version) return;
    await commits.run(() => storage.discharge(id, 'notify'));
  }

  #notification(id: TransactionId): Notification | null {
    const { storage, chains } = this.#host;
    const vault = this.#host.vault();
    const transaction = storage.transaction(id);
    const record = transaction ?? storage.activities.read(id);
    const chain = record === null ? null : findChain(chains, record.chain);
    if (vault === null || record === null || chain === null) return null;
    if (Date.now() - record.updatedAtMs > NOTIFICATION_MS) return null;
    return 'intent' in record ? notificationOf(record, vault, chain) : notificationOfActivity(record, vault, chain);
  }
}
