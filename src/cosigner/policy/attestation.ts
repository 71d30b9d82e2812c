import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes } from '#mpc/transcript.ts';

/**
 * A co-signer attests a policy that it adopted. Among t attestations one is of an honest co-signer,
 * which checked the approvals of that policy and of all policies before it when they were in force.
 */

/** Returns the signature by which this co-signer attests that it adopted a policy. */
export function attest({ own }: Pick<CosignerSet, 'own'>, policy: Policy): Promise<Uint8Array> {
  return signAsCosigner(own, attestationBytes(own.index, policy));
}

/**
 * Reports whether a policy is attested: by this co-signer itself (it adopted the policy with
 * another key of the vault), or by as many others as sign together.
 *
 * The policy names how many co-signers sign together, and no successor changes that number. When it
 * equals n, there are never enough others, and a co-signer that catches up needs a mandate that has
 * not expired.
 */
export async function isAttested(
  { own, peers }: Pick<CosignerSet, 'own' | 'peers'>,
  policy: Policy,
  attestations: ReadonlyMap<PartyIndex, Uint8Array>,
): Promise<boolean> {
  const mine = attestations.get(own.index);
  // Ed25519 is deterministic (RFC 8032): the same key gives the same signature.
  if (mine !== undefined && equalBytes(mine, await attest({ own }, policy))) return true;
  let others = 0;
  for (const [party, peer] of peers) {
    const signature = attestations.get(party);
    if (signature !== undefined && (await verifyAsCosigner(peer, attestationBytes(party, policy), signature)))
      others += 1;
  }
  return others >= policy.signingThreshold;
}

function attestationBytes(cosigner: PartyIndex, policy: Policy): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/policy-attestation/v1', [
    ['cosigner', String(cosigner)],
    ['vaultId', String(policy.vaultId)],
    ['version', String(policy.version)],
    ['policyHash', policyHashOf(policy)],
  ]);
}
