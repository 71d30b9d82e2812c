import { hexToBytes } from '@noble/hashes/utils.js';
import { keyProofDigest } from '#cosigner/key/proof-digest.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { refused } from '#domain/result.ts';
import type { SigningKey } from '#jobs/signing/combine.ts';
import { combineSignatures, publicSharesFrom } from '#jobs/signing/combine.ts';
import { relay } from '#jobs/signing/relay.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import { faultText, isUnanswered } from '#cosigner-client/client.ts';

/** Why a key, or its refresh, failed. A useless key must be generated again. */
export interface KeyFault {
  readonly reason: string;
  readonly isUseless: boolean;
}

export interface ProvableKey extends Omit<VaultKey, 'addresses'> {
  readonly threshold: number;
  readonly epoch: number;
}

/**
 * Proves a key by a signature of these co-signers over its name, a text that no chain accepts.
 * Returns null when it verifies, else the fault. An unreachable co-signer proves nothing.
 */
export async function proofFault(signers: readonly CosignerClient[], key: ProvableKey): Promise<KeyFault | null> {
  const { keyId, epoch } = key;
  const indices = signers.map((cosigner) => cosigner.index);
  const signed = await relay({
    cosigners: signers,
    path: () => `proof/${keyId}`,
    request: () => ({ signers: indices, epoch }),
  });
  if (!signed.ok) {
    const { code } = signed.refusal;
    const isUseless = !isUnanswered(signed.refusal) && code !== 'peer-banned';
    return { reason: `proof: ${faultText(signed.refusal)}`, isUseless };
  }
  const signing: SigningKey = {
    scheme: key.scheme,
    threshold: key.threshold,
    publicKey: hexToBytes(key.publicKey),
    publicShares: publicSharesFrom(key.publicShares),
  };
  const combined = await combineSignatures(signing, [keyProofDigest(keyId)], signed.value);
  return combined.ok ? null : { reason: `proof: ${faultText(combined.refusal)}`, isUseless: true };
}

export function groupName(group: readonly CosignerClient[]): string {
  return group.map(({ index }) => index).join('+');
}

/** Returns a fault that a retry may fix. */
export function withReason(what: string, fault: CosignerFault) {
  return refused({ reason: `${what}: ${faultText(fault)}`, isUseless: false });
}
