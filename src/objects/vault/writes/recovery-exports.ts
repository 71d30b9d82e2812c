import type { Operator } from '#domain/access/approval.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { notifyOfNewestLine, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/**
 * An operator's export of a vault's recovery packages: the shares of its keys, sealed for offline
 * keys.
 */
export interface RecoveryExport {
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
  operator: Operator,
  requested: RecoveryExport,
): Promise<boolean> {
  const current = vault();
  if (current === null) return false;
  await commits.run(() => {
    const isRequest = requested.keys.some(({ givenBy }) => givenBy === null);
    for (const { keyId, givenBy } of requested.keys) {
      const action = givenBy === null ? EXPORT_REQUESTED : EXPORT_GIVEN;
      const detail = givenBy === null ? keyId : `${keyId} ${givenBy.join(',')}`;
      writeVaultChange(storage, current, { action, detail, actor: operator });
    }
    if (isRequest) notifyOfNewestLine(storage, current);
  });
  return true;
}
