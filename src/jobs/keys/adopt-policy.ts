import type { ExpiredAdoption } from '#domain/policy/mandate-renewal.ts';
import type { CosignerFault } from '#cosigner-client/client.ts';
import { cosignersOf, faultText } from '#cosigner-client/client.ts';
import { syncPolicies } from '#cosigner-client/sync-policies.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';

/**
 * Shows the policies of a vault to every co-signer, for every key. The row of the outbox stays
 * until each of them has adopted the newest one: an unreachable co-signer receives it later, with
 * attestations of the others if the mandate has expired by then. The vault records which co-signer
 * refuses an expired mandate even so: its members then have to renew it.
 */
export async function adoptPolicy(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.adoptionWork();
  if (work === null) return;
  const { vaultId, keys, policies } = work;
  const all = cosignersOf(env);
  let missing = 0;
  const expired = new Map<string, ExpiredAdoption>();
  for (const { keyId } of keys) {
    for (const cosigner of all) {
      const shown = await syncPolicies({ cosigners: [cosigner], attesters: all, keyId }, policies);
      if (shown.ok) continue;
      missing += 1;
      const reason = faultText(shown.refusal);
      const version = expiredVersion(shown.refusal, policies.at(-1)?.policy.version ?? 0);
      const remedy = version === null ? {} : { renewal: `POST /vault/${vaultId}/policy/${version}/renewal` };
      console.error(JSON.stringify({ event: 'policy-adoption-delayed', vaultId, keyId, reason, ...remedy }));
      if (version !== null) expired.set(`${cosigner.index} ${version}`, { cosigner: cosigner.index, version });
    }
  }
  const newest = policies.at(-1);
  if (newest === undefined) return;
  const { version } = newest.policy;
  await vault.reportAdoption({ version, isComplete: missing === 0, expired: [...expired.values()] });
}

/**
 * Returns the version that a co-signer refused for its expired mandate, or null. A version that
 * does not exist is ignored.
 */
function expiredVersion({ code, detail }: CosignerFault, newest: number): number | null {
  if (code !== 'mandate-expired' || !/^[1-9][0-9]{0,8}$/.test(detail ?? '')) return null;
  const version = Number.parseInt(detail ?? '', 10);
  return version <= newest ? version : null;
}
