import { cosignersOf } from '#jobs/cosigner-client.ts';
import { generateKey } from '#jobs/generate-key.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';

/**
 * Lets the co-signers generate the keys that a vault lacks, one for each scheme of its chains. Run twice, or cut off in the middle, it
 * leaves at most a key that nobody uses: the first one recorded is the vault's for good.
 */
export async function generateVaultKey(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.keyWork();
  if (work === null) return;
  const { id, configuration } = work.vault;
  for (const scheme of work.schemes) {
    const { signingThreshold: threshold } = configuration;
    const generated = await generateKey(cosignersOf(env), { scheme, threshold, policies: work.policies });
    if (generated.ok) {
      await vault.recordKey({ ...generated.value, addresses: {} });
    } else {
      const { reason } = generated.refusal;
      console.error(JSON.stringify({ event: 'key-generation-failed', vaultId: id, scheme, reason }));
    }
  }
}
