import type { Member, Permission, Role } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { ApprovalMode, Device } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import type { DeviceKeyId, UserId, VaultId } from '#domain/id.ts';
import type { Policy, PolicyFault } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY, policyFault } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import { inCanonicalOrder } from '#domain/policy/rules.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { Vault, VaultConfiguration } from '#domain/vault.ts';
import { policyHash } from '#objects/vault/writes/new-transaction.ts';

export interface VaultSpec {
  readonly id: VaultId;
  /** The operator's own name for it. */
  readonly reference: string;
  readonly foundedAtMs: number;
  readonly configuration: VaultConfiguration;
  readonly members: readonly Member[];
  readonly threshold: number;
  readonly approvalMode: ApprovalMode;
  readonly devices: readonly Device[];
  readonly rules: Rules;
  readonly cosigners?: readonly CosignerPin[];
}

/** What somebody wants to be different in the next policy. What is absent stays. */
export interface PolicyPatch {
  readonly signers?: readonly UserId[];
  readonly threshold?: number;
  readonly approvalMode?: ApprovalMode;
  readonly addDevices?: readonly Device[];
  readonly removeDevices?: readonly DeviceKeyId[];
  readonly cosigners?: readonly CosignerPin[];
  readonly rules: Partial<Rules>;
}

/** Why what somebody wants can not be. */
export type PolicyPatchFault = PolicyFault | 'no-such-device';

/** The vault and the member who enters it. Refuses `forbidden`: for strangers, and for a vault that does not exist. */
export function authorize(
  vault: Vault | null,
  actor: Actor,
  permission: Permission,
): Result<{ readonly vault: Vault; readonly viewer: Member }, Refusal> {
  const viewer = vault?.members.find((member) => member.userId === actor.userId) ?? null;
  if (vault === null || viewer === null || !hasPermission(viewer, permission)) return refused({ code: 'forbidden' });
  return accepted({ vault, viewer });
}

/** A new vault with policy version 1. Refuses what `policyFault` refuses. */
export function vaultFromSpec(spec: VaultSpec): Result<Vault, PolicyFault> {
  const { id, reference, foundedAtMs, configuration, members } = spec;
  const policy = { vaultId: id, ...initialPolicy(spec) };
  const fault = policyFault(policy);
  return fault === null
    ? accepted({ id, reference, foundedAtMs, configuration, members, policy, keys: [] })
    : refused(fault);
}

/** What a vault is governed by at first; it may be one that can not be. */
export function initialPolicy(
  spec: Pick<VaultSpec, 'members' | 'threshold' | 'approvalMode' | 'devices' | 'rules' | 'cosigners'>,
): Omit<Policy, 'vaultId'> {
  return {
    version: 1,
    signers: sorted(spec.members.filter(isSigner).map(({ userId }) => userId)),
    threshold: spec.threshold,
    approvalMode: spec.approvalMode,
    devices: sortedByKeyId(spec.devices),
    rules: inCanonicalOrder(spec.rules),
    previousHash: NO_PREVIOUS_POLICY,
    ...(spec.cosigners === undefined ? {} : { cosigners: spec.cosigners }),
  };
}

/**
 * The vault with this person in these roles; no roles takes the person out. Who signs is the policy's to say, and the signers' to
 * change. Refuses `needs-quorum` when the person would become a signer or stop being one.
 */
export function withMember(vault: Vault, userId: UserId, roles: readonly Role[]): Result<Vault, 'needs-quorum'> {
  if (roles.includes('signer') !== vault.policy.signers.includes(userId)) return refused('needs-quorum');
  const others = vault.members.filter((member) => member.userId !== userId);
  return accepted({ ...vault, members: roles.length === 0 ? others : [...others, { userId, roles }] });
}

/**
 * The policy that would follow the one in force. Whoever stops signing takes the devices along.
 * Refuses `no-such-device`, and then what `policyFault` refuses.
 */
export function nextPolicy(vault: Vault, patch: PolicyPatch): Result<Policy, PolicyPatchFault> {
  const { policy } = vault;
  const signers = patch.signers === undefined ? policy.signers : sorted(patch.signers);
  const gone = patch.removeDevices ?? [];
  if (gone.some((id) => policy.devices.every(({ keyId }) => keyId !== id))) return refused('no-such-device');
  const cosigners = patch.cosigners ?? policy.cosigners;
  const stay = policy.devices.filter(({ keyId, userId }) => !gone.includes(keyId) && signers.includes(userId));
  const next: Policy = {
    vaultId: policy.vaultId,
    version: policy.version + 1,
    signers,
    threshold: patch.threshold ?? policy.threshold,
    approvalMode: patch.approvalMode ?? policy.approvalMode,
    devices: sortedByKeyId([...stay, ...(patch.addDevices ?? [])]),
    rules: inCanonicalOrder({ ...rulesWithDefaults(vault, patch), ...patch.rules }),
    previousHash: policyHash(policy),
    ...(cosigners === undefined ? {} : { cosigners }),
  };
  const fault = policyFault(next);
  return fault === null ? accepted(next) : refused(fault);
}

/**
 * The rules in force, with the default of every optional rule that the policy in force does not
 * name. A vault that moves to device mode gets the receipts that this mode is created with, unless
 * the author of the change names the rule.
 */
function rulesWithDefaults({ policy, configuration, keys }: Vault, patch: PolicyPatch): Rules {
  const approvalMode = patch.approvalMode ?? policy.approvalMode;
  const threshold = configuration.signingThreshold;
  // A vault without a key has no list of its co-signers yet; t of 2t - 1 is the strictest group.
  const count = Object.keys(keys[0]?.publicShares ?? {}).length || 2 * threshold - 1;
  const defaults = defaultRules(approvalMode, { threshold, count });
  const isNewMode = approvalMode === 'device' && policy.approvalMode === 'token';
  return { ...defaults, ...policy.rules, ...(isNewMode ? { signOnce: defaults.signOnce } : {}) };
}

/** The vault under another policy: its signers have that role, and nobody else has. A new signer may be new to the vault. */
export function withPolicy(vault: Vault, policy: Policy): Vault {
  const signs = (userId: UserId) => policy.signers.includes(userId);
  const stay = vault.members
    .map(({ userId, roles }): Member => {
      const others = roles.filter((role) => role !== 'signer');
      return { userId, roles: signs(userId) ? [...others, 'signer'] : others };
    })
    .filter(({ roles }) => roles.length > 0);
  const come = policy.signers.filter((userId) => stay.every((member) => member.userId !== userId));
  return { ...vault, policy, members: [...stay, ...come.map((userId): Member => ({ userId, roles: ['signer'] }))] };
}

function isSigner({ roles }: Member): boolean {
  return roles.includes('signer');
}

function sorted(userIds: readonly UserId[]): readonly UserId[] {
  return userIds.toSorted((a, b) => (a < b ? -1 : 1));
}
