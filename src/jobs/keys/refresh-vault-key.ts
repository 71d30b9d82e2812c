import { cosignersOf } from '#cosigner-client/client.ts';
import { nextRefreshStep } from '#jobs/keys/refresh-key.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';

/** Takes the next step to new shares of a key of a vault, and writes down what it has come to, as `generateVaultKey` does. */
export async function refreshVaultKey(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.refreshWork();
  if (work === null) return;
  const { key, refresh, policies, signingThreshold, vaultId } = work;
  const { keyId } = key;
  const step = await nextRefreshStep(cosignersOf(env), { key, threshold: signingThreshold, policies }, refresh);
  const reason = step.ok ? (step.value.type === 'set-aside' ? step.value.reason : null) : step.refusal.reason;
  if (reason !== null) {
    console.error(JSON.stringify({ event: 'key-refresh-delayed', vaultId, keyId, reason }));
  }
  if (step.ok) await vault.reportRefresh(keyId, step.value);
}
