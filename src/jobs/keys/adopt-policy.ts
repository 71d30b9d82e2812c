import type { ExpiredAdoption } from '#domain/policy/mandate-renewal.ts';
import type { CosignerFault } from '#cosigner-client/client.ts';
import { cosignersOf, faultText } from '#cosigner-client/client.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { policySource } from '#jobs/signing/policy-source.ts';

/**
 * Brings the policies of a vault to every co-signer that lacks some. The row of the outbox stays
 * until each of them has adopted the newest one: an unreachable co-signer receives it later, with
 * the attestations of those that have adopted it if the mandate has expired by then. The vault
 * records which co-signer refuses an expired mandate even so: its members then have to renew it.
 */
export async function adoptPolicy(env: CoordinatorEnv, vault: VaultDoors): Promise<void> {
  const work = await vault.work({ type: 'adoptionWork' });
  if (work === null) return;
  const { version, vaultId } = work.policy;
  const attesters = cosignersOf(env);
  const targets = attesters.filter(({ index }) => (work.adoptedVersions[String(index)] ?? 0) < version);
  const { versions, faults } = await bringPolicies(policySource(vault, work), { targets, attesters });
  const expired: ExpiredAdoption[] = [];
  for (const fault of faults) {
    const refused = expiredVersion(fault, version);
    const remedy = refused === null ? {} : { renewal: `POST /vault/${vaultId}/policy/${refused}/renewal` };
    const reason = faultText(fault);
    console.error(JSON.stringify({ event: 'policy-adoption-delayed', vaultId, reason, ...remedy }));
    if (refused !== null) expired.push({ cosigner: fault.cosigner, version: refused });
  }
  const isComplete = targets.every(({ index }) => (versions[String(index)] ?? 0) >= version);
  await vault.report({ type: 'reportAdoption', version, isComplete, expired, adoptedVersions: versions });
}

/**
 * Returns the version that a co-signer refused because its mandate has expired, or lacks the
 * signature of a device that it begins with; null otherwise. A version that does not exist is
 * ignored.
 */
function expiredVersion({ code, detail }: CosignerFault, newest: number): number | null {
  if ((code !== 'mandate-expired' && code !== 'not-founded') || !/^[1-9][0-9]{0,8}$/.test(detail ?? '')) return null;
  const version = Number.parseInt(detail ?? '', 10);
  return version <= newest ? version : null;
}
