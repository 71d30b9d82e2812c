import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { VaultId } from '#domain/id.ts';
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * A co-signer attests a policy when it has checked its mandate and chosen it as the only policy of
 * its version: with the stage `chosen` before it adopts the policy, and with the stage `adopted`
 * from then on. Among t attestations one is of an honest co-signer. Those with the stage `chosen`
 * count while the mandate has not expired; the others have no end.
 */
export type AttestationStage = 'chosen' | 'adopted';

/** What an attestation names. The hash of a policy fixes every policy before it. */
export interface PolicyName {
  readonly vaultId: VaultId;
  readonly version: number;
  /** Lower-case hex SHA-256 of the policy. */
  readonly hash: string;
}

export type Attestations = ReadonlyMap<PartyIndex, Uint8Array>;

/** Signs the attestations of this co-signer, and verifies those of the others. */
export interface AttestationKeys {
  readonly sign: (policy: PolicyName, stage: AttestationStage) => Promise<Uint8Array>;
  /** Returns the other co-signers with a valid attestation of this stage. */
  readonly attestersOf: (
    policy: PolicyName,
    stage: AttestationStage,
    attestations: Attestations,
  ) => Promise<ReadonlySet<PartyIndex>>;
}

export function attestationKeysOf({ own, peers }: Pick<CosignerSet, 'own' | 'peers'>): AttestationKeys {
  return {
    sign: (policy, stage) => signAsCosigner(own, attestationBytes(own.index, policy, stage)),
    attestersOf: async (policy, stage, attestations) => {
      const attesters = new Set<PartyIndex>();
      for (const [party, peer] of peers) {
        const signature = attestations.get(party);
        if (signature === undefined) continue;
        if (await verifyAsCosigner(peer, attestationBytes(party, policy, stage), signature)) attesters.add(party);
      }
      return attesters;
    },
  };
}

function attestationBytes(cosigner: PartyIndex, policy: PolicyName, stage: AttestationStage): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/policy-attestation/v2', [
    ['cosigner', String(cosigner)],
    ['stage', stage],
    ['vaultId', String(policy.vaultId)],
    ['version', String(policy.version)],
    ['policyHash', policy.hash],
  ]);
}
