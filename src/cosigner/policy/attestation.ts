import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { PolicyName } from '#devices/policy-succession.ts';
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * A co-signer attests a policy when it has checked its mandate and chosen it as the only policy of
 * its version: with the stage `chosen` before it adopts the policy, and with the stage `adopted`
 * from then on. Among t attestations one is of an honest co-signer. Those with the stage `chosen`
 * name the end of the mandate and count until then, so a later mandate for the same policy needs
 * new ones. The others have no end.
 */
export type AttestationStage = 'chosen' | 'adopted';

export type Attestations = ReadonlyMap<PartyIndex, Uint8Array>;

/** What an attestation says. */
export interface Attested {
  readonly policy: PolicyName;
  readonly stage: AttestationStage;
  /** The end of the mandate; null for an adopted policy. */
  readonly endsAtMs: number | null;
}

/** Signs the attestations of this co-signer, and verifies those of the others. */
export interface AttestationKeys {
  readonly sign: (attested: Attested) => Promise<Uint8Array>;
  /** Returns the other co-signers with a valid attestation of exactly this. */
  readonly attestersOf: (attested: Attested, attestations: Attestations) => Promise<ReadonlySet<PartyIndex>>;
}

export function attestationKeysOf({ own, peers }: Pick<CosignerSet, 'own' | 'peers'>): AttestationKeys {
  return {
    sign: (attested) => signAsCosigner(own, attestationBytes(own.index, attested)),
    attestersOf: async (attested, attestations) => {
      const attesters = new Set<PartyIndex>();
      for (const [party, peer] of peers) {
        const signature = attestations.get(party);
        if (signature === undefined) continue;
        if (await verifyAsCosigner(peer, attestationBytes(party, attested), signature)) attesters.add(party);
      }
      return attesters;
    },
  };
}

function attestationBytes(cosigner: PartyIndex, { policy, stage, endsAtMs }: Attested): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/policy-attestation/v2', [
    ['cosigner', String(cosigner)],
    ['stage', stage],
    ['endsAtMs', endsAtMs === null ? null : String(endsAtMs)],
    ['vaultId', String(policy.vaultId)],
    ['version', String(policy.version)],
    ['policyHash', policy.hash],
  ]);
}
