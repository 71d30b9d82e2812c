import type { Chain } from '#domain/asset/chain.ts';
import type { Vault } from '#domain/vault.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { missingSchemes } from '#objects/vault/wallets.ts';

/**
 * Enqueues the generation of the keys that a vault's chains lack, and drops candidates of existing
 * keys. Runs inside a commit.
 */
export function enqueueMissingKeys(storage: VaultStorage, after: Vault, chains: readonly Chain[]): void {
  for (const { scheme } of after.keys) storage.dropKeyCandidate(scheme);
  if (missingSchemes(after, chains).length === 0) storage.completeJob('', 'generate-key');
  else if (storage.queuedJob('', 'generate-key') === null) enqueueNextStep(storage);
}

/** Makes the next step of key generation due at once. Runs inside a commit. */
export function enqueueNextStep(storage: VaultStorage): void {
  storage.enqueueJob({ transactionId: '', job: 'generate-key', version: 0, dueAtMs: Date.now(), tries: 0 });
}
