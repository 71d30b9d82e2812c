import { randomBytes } from '@noble/hashes/utils.js';
import { newTransactionId } from '#domain/id.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { PROJECTION_DELAY_MS } from '#objects/vault/outbox.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** An operator exports the recovery packages of a vault: the shares of its keys, sealed for offline keys. */
export interface RecoveryExport {
  /** Which service key asked, and from where. Public. */
  readonly requestedBy: string;
  readonly keys: readonly {
    readonly keyId: string;
    /** Numbers of the co-signers that gave a package; null before they are asked. */
    readonly givenBy: readonly number[] | null;
  }[];
}

export const EXPORT_REQUESTED = 'recovery-export';
const EXPORT_GIVEN = 'recovery-exported';

/**
 * Writes an export into the history of the vault, one line for each key, and notifies all members when it is requested. The request is
 * committed before a co-signer is asked, so that no crash hides an export. Asked twice it writes twice: a line too many is looked into, a line
 * too few is not. Returns false when the vault does not exist.
 */
export async function recordExport(
  { storage, commits, vault }: VaultContext,
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
    // No transaction has this id; the version names the line of the history that the notification is about.
    const nowMs = Date.now();
    const id = newTransactionId(current.id, nowMs, randomBytes(10));
    const dueAtMs = nowMs + PROJECTION_DELAY_MS;
    storage.enqueueJob({ transactionId: id, job: 'notify', version: storage.historyLength(), dueAtMs, tries: 0 });
  });
  return true;
}
