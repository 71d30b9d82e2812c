import type { KeyScheme } from '#domain/asset/chain.ts';
import { neededRenewals } from '#domain/policy/mandate-renewal.ts';
import type { KeyCandidate, VaultKey } from '#domain/vault/vault.ts';
import { enqueueAdoption } from '#objects/vault/writes/policy-change-writes.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { unfoundedOf } from '#objects/vault/writes/mandate-renewal.ts';
import type { KeyWork } from '#objects/vault/views.ts';
import { updateVault } from '#objects/vault/writes/update-vault.ts';
import { enqueueNextStep } from '#objects/vault/writes/key-jobs.ts';
import { missingSchemes, withKey } from '#objects/vault/wallets.ts';

/** The progress of a run of the job. */
export type KeyProgress =
  /** Two co-signers have created a missing set-up, or co-signers have received policies. */
  | { readonly type: 'prepared' }
  /** There is a key, or one more group has proven it. */
  | { readonly type: 'candidate'; readonly candidate: KeyCandidate }
  /** A co-signer cannot sign with it: it is never used, and another key is generated. */
  | { readonly type: 'discarded'; readonly candidate: KeyCandidate };

/** The commands for the generation of a vault's keys. */

/**
 * Returns the next key to generate with its progress, for the consumers; null when none is missing,
 * and before the signers of a vault in device mode have founded it.
 */
export function keyWork(context: VaultContext): KeyWork | null {
  const { storage, chains } = context;
  const vault = context.vault();
  const [scheme] = vault === null ? [] : missingSchemes(vault, chains);
  if (vault === null || scheme === undefined) return null;
  const candidate = storage.keyCandidate(scheme);
  const isFirst = vault.keys.length === 0 && candidate === null;
  // No co-signer takes these policies. The last signature of a founder makes the job due again.
  if (isFirst && unfoundedOf(storage, vault) !== null) return null;
  const terms = { nowMs: Date.now(), unfounded: null };
  const expired = isFirst ? neededRenewals(storage.policies.adopted(), null, terms) : [];
  return { vault, scheme, candidate, expiredVersions: expired.map(({ version }) => version) };
}

/**
 * Records the progress of a run of the job, and makes the next one due. A late report of a
 * discarded key changes nothing.
 */
export async function progressKey(
  context: VaultContext,
  { scheme, progress }: { readonly scheme: KeyScheme; readonly progress: KeyProgress },
): Promise<void> {
  const { storage, commits, chains } = context;
  const vault = context.vault();
  if (vault === null || !missingSchemes(vault, chains).includes(scheme)) return;
  const known = storage.keyCandidate(scheme);
  await commits.run(() => {
    if (progress.type === 'candidate') {
      const { candidate } = progress;
      if (known !== null && known.keyId !== candidate.keyId) return;
      const provenBy = [...new Set([...(known?.provenBy ?? []), ...candidate.provenBy])];
      storage.putKeyCandidate({ ...candidate, provenBy });
      const hasResult = known === null || provenBy.length > known.provenBy.length;
      enqueueNextStep(storage, 'generate-key', { hasResult });
    }
    if (progress.type === 'prepared') enqueueNextStep(storage, 'generate-key', { hasResult: false });
    // The next run follows at its usual time, because the fault may last for some time.
    if (progress.type === 'discarded' && known?.keyId === progress.candidate.keyId) storage.dropKeyCandidate(scheme);
  });
}

/**
 * Records a key of the vault. The first recorded key of a scheme stays: a second run of the job
 * changes nothing.
 */
export async function recordKey(context: VaultContext, { key }: { readonly key: VaultKey }): Promise<void> {
  const { storage, chains } = context;
  const vault = context.vault();
  if (vault === null || vault.keys.some(({ scheme }) => scheme === key.scheme)) return;
  const after = withKey(vault, key, chains);
  const also = () => {
    // A policy that was adopted during the key generation is not part of the key.
    enqueueAdoption(storage, after);
    // The job of this key is still in the outbox until its next retry. The next key does not wait
    // for that.
    if (missingSchemes(after, chains).length > 0) enqueueNextStep(storage, 'generate-key', { hasResult: true });
  };
  await updateVault(context, after, { action: 'key', detail: key.keyId, also });
}
