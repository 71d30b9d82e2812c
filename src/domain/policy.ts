import type { UserId, VaultId } from '#domain/id.ts';
import type { CanonicalField } from '#domain/canonical.ts';
import { canonicalBytes } from '#domain/canonical.ts';

/**
 * Who decides over a vault, and how many of them it takes. Every co-signer pins version 1 when the key is generated and
 * afterwards accepts only the next version that names the hash of the one before, so a coordinator can neither skip back
 * to an easier policy nor show two co-signers two histories.
 */
export interface Policy {
  readonly vaultId: VaultId;
  readonly version: number;
  /** Sorted and distinct: the same people give the same bytes. */
  readonly signers: readonly UserId[];
  readonly threshold: number;
  /** Lower-case hex SHA-256 of the policy before this one; 64 zeros for version 1. */
  readonly previousHash: string;
}

export const NO_PREVIOUS_POLICY = '0'.repeat(64);

/** More voices than this would not fit one screen, and every approval scans them. */
const MOST_SIGNERS = 50;

export type PolicyFault = 'no-signers' | 'too-many-signers' | 'signers-not-sorted' | 'threshold-out-of-range';

/** Refuses, in order: no signers, too many, unsorted or doubled signers, a threshold outside 1 to the number of signers. */
export function policyFault(policy: Policy): PolicyFault | null {
  if (policy.signers.length === 0) return 'no-signers';
  if (policy.signers.length > MOST_SIGNERS) return 'too-many-signers';
  const sorted = policy.signers.every((signer, i) => i === 0 || (policy.signers[i - 1] ?? '') < signer);
  if (!sorted) return 'signers-not-sorted';
  const { threshold } = policy;
  return Number.isInteger(threshold) && threshold >= 1 && threshold <= policy.signers.length
    ? null
    : 'threshold-out-of-range';
}

/** The bytes whose SHA-256 names this policy. */
export function policyBytes(policy: Policy): Uint8Array {
  const fields: CanonicalField[] = [
    ['vaultId', String(policy.vaultId)],
    ['version', String(policy.version)],
    ['threshold', String(policy.threshold)],
    ['previousHash', policy.previousHash],
    ['signers', String(policy.signers.length)],
    ...policy.signers.map((signer): CanonicalField => ['signer', signer]),
  ];
  return canonicalBytes('conclave/policy/v1', fields);
}
