import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { nextKeyStep } from '#jobs/keys/generate-key.ts';
import { anvilRules, present } from '../cosigners.ts';

/** Repeats a job until it is done. */
type Repeat = <T>(run: (crew: readonly CosignerClient[]) => Promise<T | null>) => Promise<T>;

/** Generates a key. One for ECDSA has the address of its vault on anvil. */
export function generatedKey(
  repeated: Repeat,
  { scheme, policies }: { readonly scheme: VaultKey['scheme']; readonly policies: PolicySource },
): Promise<VaultKey> {
  let candidate: Parameters<typeof nextKeyStep>[2] = null;
  return repeated(async (crew) => {
    const step = await nextKeyStep(crew, { scheme, policies }, candidate);
    if (!step.ok) throw new Error(step.refusal.reason);
    if (step.value.type === 'candidate') ({ candidate } = step.value);
    if (step.value.type !== 'key') return null;
    if (scheme !== 'ecdsa-secp256k1') return { ...step.value.key, addresses: {} };
    const address = addressOn(anvilRules.chain.caip2, scheme, hexToBytes(step.value.key.publicKey));
    return { ...step.value.key, addresses: { anvil: present(address) } };
  });
}
