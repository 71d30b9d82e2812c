import { invitationsAfter } from '#domain/access/invitation.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Member } from '#domain/access/member.ts';
import type { VaultId } from '#domain/id.ts';
import { sortedUserIds } from '#domain/id.ts';
import type { Policy, PolicyFault } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY, draftFault } from '#domain/policy/policy.ts';
import { inCanonicalOrder } from '#domain/policy/rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Vault, VaultConfiguration } from '#domain/vault/vault.ts';

/** The parts of its first policy that the creator of a vault specifies. */
type PolicyTerms = Pick<Policy, 'threshold' | 'signingThreshold' | 'approvalMode' | 'devices' | 'rules' | 'cosigners'>;

export interface VaultSpec extends PolicyTerms {
  readonly id: VaultId;
  /** The operator's own name for the vault. */
  readonly reference: string;
  readonly foundedAtMs: number;
  readonly configuration: VaultConfiguration;
  readonly members: readonly Member[];
}

/**
 * Returns a new vault with a draft of policy version 1, to which every member is invited.
 * Refuses what `draftFault` refuses.
 */
export function vaultFromSpec(spec: VaultSpec): Result<Vault, PolicyFault> {
  const { id, reference, foundedAtMs, configuration, members } = spec;
  const policy = { vaultId: id, ...initialPolicy(spec) };
  const fault = draftFault(policy);
  return fault === null
    ? accepted({
        id,
        reference,
        foundedAtMs,
        configuration,
        members,
        invitations: invitationsAfter({ members: [], invitations: [] }, members),
        disabledAccess: [],
        accessVersions: {},
        policy,
        keys: [],
        expiredAdoptions: [],
        adoptedVersions: {},
      })
    : refused(fault);
}

/** Returns the first policy of a vault. It may be invalid. */
export function initialPolicy(spec: PolicyTerms & Pick<VaultSpec, 'members'>): Omit<Policy, 'vaultId'> {
  return {
    version: 1,
    signers: sortedUserIds(spec.members.filter(isSigner).map(({ userId }) => userId)),
    threshold: spec.threshold,
    signingThreshold: spec.signingThreshold,
    approvalMode: spec.approvalMode,
    devices: sortedByKeyId(spec.devices),
    rules: inCanonicalOrder(spec.rules),
    previousHash: NO_PREVIOUS_POLICY,
    ...(spec.cosigners === undefined ? {} : { cosigners: spec.cosigners }),
  };
}

function isSigner({ roles }: Member): boolean {
  return roles.includes('signer');
}
