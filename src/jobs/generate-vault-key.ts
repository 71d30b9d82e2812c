import { adapterFor } from '#chains/adapters.ts';
import { keySchemeOf } from '#domain/chain.ts';
import { hexToBytes } from '@noble/hashes/utils.js';
import { cosignersOf } from '#jobs/cosigner-client.ts';
import { generateKey } from '#jobs/generate-key.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';

/**
 * Lets the co-signers generate the key of a vault and records it with the addresses that follow from it. Run twice, or cut
 * off in the middle, it leaves at most a key that nobody uses: the first one recorded is the vault's for good.
 */
export async function generateVaultKey(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.keyWork();
  if (work === null) return;
  const family = work.chains[0]?.family;
  if (family === undefined) return;
  const scheme = keySchemeOf(family);
  const generated = await generateKey(cosignersOf(env), {
    threshold: work.vault.configuration.signingThreshold,
    policies: work.policies,
  });
  if (!generated.ok) {
    console.error(
      JSON.stringify({ event: 'key-generation-failed', vaultId: work.vault.id, reason: generated.refusal.reason }),
    );
    return;
  }
  const { keyId, publicKey } = generated.value;
  const addresses = Object.fromEntries(
    work.chains
      .filter((chain) => keySchemeOf(chain.family) === scheme)
      .map((chain) => [chain.name, adapterFor(chain, []).addressOf(hexToBytes(publicKey))]),
  );
  await vault.recordKey({ keyId, scheme, publicKey, addresses });
}
