import { cosignersOf, faultText } from '#nodes/cosigner-client.ts';
import { showPolicies } from '#nodes/show-policies.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';

/**
 * Shows the policies of a vault to every co-signer, for every key. The row of the outbox stays until each of them has adopted the
 * newest one: a co-signer that is away is shown it later, with attestations of the others when the mandate has expired by then.
 */
export async function spreadPolicy(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.adoptionWork();
  if (work === null) return;
  const { vaultId, keys, policies } = work;
  const all = cosignersOf(env);
  let missing = 0;
  for (const { keyId } of keys) {
    for (const node of all) {
      const shown = await showPolicies({ nodes: [node], witnesses: all, keyId }, policies);
      if (shown.ok) continue;
      missing += 1;
      const reason = faultText(shown.refusal);
      console.error(JSON.stringify({ event: 'policy-adoption-delayed', vaultId, keyId, reason }));
    }
  }
  const newest = policies.at(-1);
  if (missing === 0 && newest !== undefined) await vault.reportAdoption(newest.policy.version);
}
