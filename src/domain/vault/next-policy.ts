import type { ApprovalMode, Device } from '#domain/access/device.ts';
import { changedDevice, sortedByKeyId } from '#domain/access/device.ts';
import type { DeviceKeyId, UserId } from '#domain/id.ts';
import { sortedUserIds } from '#domain/id.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import { foundersOf } from '#domain/policy/founding.ts';
import type { Policy, PolicyFault } from '#domain/policy/policy.ts';
import { draftFault, policyFault } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { inCanonicalOrder } from '#domain/policy/rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Vault } from '#domain/vault/vault.ts';

/** The parts of the policy in force that a policy change replaces. An absent part stays. */
export interface PolicyPatch {
  readonly signers?: readonly UserId[];
  readonly threshold?: number;
  readonly approvalMode?: ApprovalMode;
  readonly addDevices?: readonly Device[];
  readonly removeDevices?: readonly DeviceKeyId[];
  readonly cosigners?: readonly CosignerPin[];
  readonly rules: Partial<Rules>;
}

/** What a patch is applied to. Keys that are not known are absent. */
type Governed = Pick<Vault, 'policy' | 'keys'>;

/** Why a patch does not give a valid policy. */
export type PolicyPatchFault =
  | PolicyFault
  | 'no-such-device'
  | 'device-changed'
  | 'new-signer-in-first-device-policy'
  | 'token-mode-before-founding';

/**
 * Returns the policy in force with a patch applied. The devices of a removed signer are removed,
 * too. Refuses `no-such-device`, `device-changed` for an added device that has the key of another
 * one in force and differs from it, `new-signer-in-first-device-policy` for a change to device mode
 * that also adds a signer, who could not approve it, and then what `policyFault` refuses.
 *
 * @param previousHash hash of the policy in force, in hex
 */
export function nextPolicy(
  vault: Governed,
  patch: PolicyPatch,
  previousHash: string,
): Result<Policy, PolicyPatchFault> {
  const { policy } = vault;
  const patched = patchedPolicy(vault, patch);
  if (!patched.ok) return patched;
  const next: Policy = { ...patched.value, version: policy.version + 1, previousHash };
  const founders = foundersOf(next, policy);
  if (founders.some((userId) => !policy.signers.includes(userId))) return refused('new-signer-in-first-device-policy');
  const fault = policyFault(next);
  return fault === null ? accepted(next) : refused(fault);
}

/**
 * Returns the draft of version 1 with a patch applied. Refuses `no-such-device`, `device-changed`,
 * `token-mode-before-founding`, and then what `draftFault` refuses.
 */
export function nextDraft(vault: Governed, patch: PolicyPatch): Result<Policy, PolicyPatchFault> {
  const patched = patchedPolicy(vault, patch);
  if (!patched.ok) return patched;
  // No signature is required for a draft. In token mode it would be in force without one.
  if (patched.value.approvalMode === 'token') return refused('token-mode-before-founding');
  const fault = draftFault(patched.value);
  return fault === null ? patched : refused(fault);
}

/** Returns the policy of a vault with a patch applied, under its own version. */
function patchedPolicy(vault: Governed, patch: PolicyPatch): Result<Policy, 'no-such-device' | 'device-changed'> {
  const { policy } = vault;
  const signers = patch.signers === undefined ? policy.signers : sortedUserIds(patch.signers);
  const removed = patch.removeDevices ?? [];
  if (removed.some((id) => policy.devices.every(({ keyId }) => keyId !== id))) return refused('no-such-device');
  const cosigners = patch.cosigners ?? policy.cosigners;
  const remaining = policy.devices.filter(({ keyId, userId }) => !removed.includes(keyId) && signers.includes(userId));
  const patched: Policy = {
    vaultId: policy.vaultId,
    version: policy.version,
    signers,
    threshold: patch.threshold ?? policy.threshold,
    signingThreshold: policy.signingThreshold,
    approvalMode: patch.approvalMode ?? policy.approvalMode,
    devices: sortedByKeyId([...remaining, ...(patch.addDevices ?? [])]),
    rules: inCanonicalOrder({ ...rulesWithDefaults(vault, patch), ...patch.rules }),
    previousHash: policy.previousHash,
    ...(cosigners === undefined ? {} : { cosigners }),
  };
  return changedDevice(policy.devices, patched.devices) === null ? accepted(patched) : refused('device-changed');
}

/**
 * Returns the rules in force, with the default of every optional rule that the policy in force does
 * not name. A vault that moves to device mode gets the receipts that this mode is created with,
 * unless the author of the change names the rule.
 */
function rulesWithDefaults({ policy, keys }: Governed, patch: PolicyPatch): Rules {
  const approvalMode = patch.approvalMode ?? policy.approvalMode;
  const threshold = policy.signingThreshold;
  // A vault without a key has no list of its co-signers yet. The strictest group is t of 2t - 1.
  const count = Object.keys(keys[0]?.publicShares ?? {}).length || 2 * threshold - 1;
  const defaults = defaultRules(approvalMode, { threshold, count });
  const isNewMode = approvalMode === 'device' && policy.approvalMode === 'token';
  return { ...defaults, ...policy.rules, ...(isNewMode ? { signOnce: defaults.signOnce } : {}) };
}
