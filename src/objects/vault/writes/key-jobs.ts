import type { Chain } from '#domain/asset/chain.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { retryDelayMs } from '#objects/outbox.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { missingSchemes } from '#objects/vault/wallets.ts';

/**
 * Enqueues the generation of the keys that a vault's chains lack, and drops candidates of existing
 * keys. Runs inside a commit.
 */
export function enqueueMissingKeys(storage: VaultStorage, after: Vault, chains: readonly Chain[]): void {
  for (const { scheme } of after.keys) storage.dropKeyCandidate(scheme);
  if (missingSchemes(after, chains).length === 0) storage.completeJob('', 'generate-key');
  else if (storage.queuedJob('', 'generate-key') === null)
    enqueueNextStep(storage, 'generate-key', { hasResult: true });
}

/**
 * Ours: more steps than five co-signers need in a row without a result. Hostile co-signers can
 * repeat such steps for ever, for example with another set-up of a pair each time.
 */
const MAX_STEPS_AT_ONCE = 16;

/**
 * Makes the next step of a key generation or refresh due: at once, but after many steps without a
 * result with the delay of a retry. The version of the row counts these steps. Runs inside a
 * commit.
 */
export function enqueueNextStep(
  storage: VaultStorage,
  job: 'generate-key' | 'refresh-key',
  { hasResult }: { readonly hasResult: boolean },
): void {
  const version = hasResult ? 0 : (storage.queuedJob('', job)?.version ?? 0) + 1;
  const tries = version - MAX_STEPS_AT_ONCE;
  const dueAtMs = Date.now() + (tries > 0 ? retryDelayMs({ transactionId: '', tries }) : 0);
  storage.enqueueJob({ transactionId: '', job, version, dueAtMs, tries: 0 });
}
