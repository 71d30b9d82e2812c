import { neededRenewals } from '#domain/policy/mandate-renewal.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { nextKeyStep } from '#jobs/keys/generate-key.ts';
import { attestationsOf } from '#cosigner-client/sync-policies.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';

/**
 * Takes the next step to the key that a vault lacks: one pairing, the generation itself, or one proof that a group can sign with it. A step
 * is some twenty calls of co-signers at most, because a Worker may make only so many in one go, and each is written down before the next
 * one: cut off anywhere, it goes on from there. Run twice at once it leaves at most a key that nobody uses.
 */
export async function generateVaultKey(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.keyWork();
  if (work === null) return;
  const { scheme, policies, candidate } = work;
  const { id, configuration } = work.vault;
  const cosigners = cosignersOf(env);
  const [existing] = work.vault.keys;
  const version = policies.at(-1)?.policy.version ?? 0;
  // Mandates of changes expire. Another key of the vault has them in force, and its co-signers attest that.
  const attestations =
    existing === undefined || version < 2 || candidate !== null
      ? {}
      : await attestationsOf(cosigners, existing.keyId, version);
  const request = { scheme, threshold: configuration.signingThreshold, policies, attestations };
  const step = await nextKeyStep(cosigners, request, candidate);
  if (!step.ok) {
    const { reason, isUseless } = step.refusal;
    // Without a key no co-signer has adopted anything, so none attests: these mandates have to be renewed.
    const expired = existing === undefined && candidate === null ? neededRenewals(policies, null, Date.now()) : [];
    const renewals = expired.map(({ version: renewed }) => `POST /vault/${id}/policy/${renewed}/renewal`);
    const remedy = renewals.length === 0 ? {} : { renewals };
    console.error(JSON.stringify({ event: 'key-generation-failed', vaultId: id, scheme, reason, ...remedy }));
    if (isUseless && candidate !== null) await vault.progressKey(scheme, { type: 'discarded', candidate });
    return;
  }
  if (step.value.type === 'key') await vault.recordKey({ ...step.value.key, addresses: {} });
  else await vault.progressKey(scheme, step.value);
}
