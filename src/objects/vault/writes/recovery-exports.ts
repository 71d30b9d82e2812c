import { randomBytes } from '@noble/hashes/utils.js';
import { newTransactionId } from '#domain/id.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { PROJECTION_DELAY_MS } from '#objects/outbox.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/**
 * An operator's export of a vault's recovery packages: the shares of its keys, sealed for offline
 * keys.
 */
export interface RecoveryExport {
  /** The service key that requested it, and its address. Public. */
  readonly requestedBy: string;
  readonly keys: readonly {
    readonly keyId: string;
    /** Numbers of the co-signers that gave a package; null before the request to them. */
    readonly givenBy: readonly number[] | null;
  }[];
}

export const EXPORT_REQUESTED = 'recovery-export';
const EXPORT_GIVEN = 'recovery-exported';

/**
 * Writes an export into the history of the vault, one entry for each key, and notifies all members
 * when it is requested. The request is committed before any co-signer is called, so that no crash
 * hides an export. A repeated call writes twice: an extra entry is investigated, and a missing one
 * is not. Returns false when the vault does not exist.
 */
export async function recordExport(
  { storage, commits, vault }: VaultContext,
  _operator: null,
  requested: RecoveryExport,
): Promise<boolean> {
  const current = vault();
  if (current === null) return false;
  await commits.run(() => {
    const isRequest = requested.keys.some(({ givenBy }) => givenBy === null);
    for (const { keyId, givenBy } of requested.keys) {
      const action = givenBy === null ? EXPORT_REQUESTED : EXPORT_GIVEN;
      const detail = givenBy === null ? keyId : `${keyId} ${givenBy.join(',')}`;
      writeVaultChange(storage, current, { action, detail, actor: null, reason: requested.requestedBy });
    }
    if (!isRequest || !storage.notificationsEnabled) return;
    // No transaction has this id. The version is the number of the history entry in the
    // notification.
    const nowMs = Date.now();
    const id = newTransactionId(current.id, nowMs, randomBytes(10));
    const dueAtMs = nowMs + PROJECTION_DELAY_MS;
    storage.enqueueJob({ transactionId: id, job: 'notify', version: storage.history.length(), dueAtMs, tries: 0 });
  });
  return true;
}
