import type { Actor, Operator } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { writeVault, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/**
 * Writes the vault's new state with a history entry, and runs the other writes of the same commit.
 */
export async function updateVault(
  { storage, commits, chains, replaceVault }: VaultContext,
  after: Vault,
  {
    also = () => {},
    actor = null,
    ...line
  }: {
    readonly action: string;
    readonly detail: string;
    readonly actor?: Actor | Operator | null;
    readonly also?: () => void;
  },
): Promise<void> {
  const write = () => {
    writeVault(storage, after, chains);
    writeVaultChange(storage, after, { ...line, actor });
    also();
  };
  await commits.run(write, () => replaceVault(after));
}
