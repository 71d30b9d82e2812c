import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { AdoptionWork } from '#objects/vault/views.ts';

/** Returns the policies of a vault. Its object sends only those that a co-signer lacks. */
export function policySource(vault: VaultDoors, work: AdoptionWork): PolicySource {
  return { ...work, after: (version) => vault.work({ type: 'policiesAfter', version }) };
}
