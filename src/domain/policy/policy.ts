import type { UserId, VaultId } from '#domain/id.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { ApprovalMode, Device } from '#domain/access/device.ts';
import { deviceFields, MAX_DEVICES } from '#domain/access/device.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { arePins, isSigningThreshold, pinFields } from '#domain/access/cosigner-pin.ts';
import type { Exposure } from '#domain/asset/exposure.ts';
import type { Rules, RulesFault } from '#domain/policy/rules.ts';
import { highestThreshold, ruleFields, rulesFault, triggeredThresholds } from '#domain/policy/rules.ts';

/**
 * The signers of a vault, the number of approvals, and the rules that they are bound to. Every
 * co-signer pins the policies of the vault with its first key. Afterwards it accepts only the next
 * version, which names the hash of the version before and has the approvals that the version before
 * requires. Therefore a coordinator cannot return to a weaker policy. `adoption.ts` of the
 * co-signer limits two histories of one vault.
 */
export interface Policy {
  readonly vaultId: VaultId;
  readonly version: number;
  /** Sorted and distinct: the same signers give the same bytes. */
  readonly signers: readonly UserId[];
  readonly threshold: number;
  /**
   * The number of co-signers that sign together. Every version of a vault has the same one, because
   * the shares of its keys are dealt for it.
   */
  readonly signingThreshold: number;
  readonly approvalMode: ApprovalMode;
  /**
   * Sorted by key id, and distinct. In token mode they have no effect until a change to device
   * mode.
   */
  readonly devices: readonly Device[];
  readonly rules: Rules;
  /** Lower-case hex SHA-256 of the policy before this one; 64 zeros for version 1. */
  readonly previousHash: string;
  /**
   * The identity keys of the co-signers, in order. Signers verify statements of co-signers against
   * them, and only a policy change replaces them. Absent from older policies.
   */
  readonly cosigners?: readonly CosignerPin[];
}

export const NO_PREVIOUS_POLICY = '0'.repeat(64);

/** More signers would not fit on one screen, and every approval scans them. */
const MAX_SIGNERS = 50;

export type PolicyFault =
  | 'version-out-of-range'
  | 'no-signers'
  | 'too-many-signers'
  | 'signers-not-sorted'
  | 'threshold-out-of-range'
  | 'signing-threshold-out-of-range'
  | 'too-many-devices'
  | 'devices-not-sorted'
  | 'device-of-nobody'
  | 'signer-without-device'
  | 'required-device-missing'
  | 'cosigners-malformed'
  | 'excluded-signer'
  | RulesFault;

/**
 * Returns the first reason why a policy is invalid, or null. Checks, in order: a version below 1,
 * no signers, too many, unsorted or repeated signers, a threshold outside 1 to the number of
 * signers, an excluded signer, malformed pins, a signing threshold that is no majority of the
 * co-signers, more than `MAX_DEVICES` devices, unsorted or repeated devices, a device whose owner
 * is not a signer, in device mode a signer without a device, a required device that no device is,
 * then what `rulesFault` refuses.
 */
export function policyFault(policy: Omit<Policy, 'vaultId'>): PolicyFault | null {
  return partsFault(policy) ?? missingDeviceFault(policy) ?? rulesFault(policy.rules, policy.signers.length);
}

/**
 * Returns the first reason why a policy is no draft of the first policy of a vault, or null. Checks
 * what `policyFault` checks. In device mode devices may be missing, because signers add them before
 * they found the vault.
 */
export function draftFault(policy: Omit<Policy, 'vaultId'>): PolicyFault | null {
  const rules = rulesFault(policy.rules, policy.signers.length);
  return policy.approvalMode === 'device' ? (partsFault(policy) ?? rules) : policyFault(policy);
}

function partsFault(policy: Omit<Policy, 'vaultId'>): PolicyFault | null {
  if (policy.version < 1) return 'version-out-of-range';
  if (policy.signers.length === 0) return 'no-signers';
  if (policy.signers.length > MAX_SIGNERS) return 'too-many-signers';
  const sorted = policy.signers.every((signer, i) => i === 0 || (policy.signers[i - 1] ?? '') < signer);
  if (!sorted) return 'signers-not-sorted';
  const { threshold } = policy;
  if (!Number.isInteger(threshold) || threshold < 1 || threshold > policy.signers.length)
    return 'threshold-out-of-range';
  const { excludedMembers = [] } = policy.rules;
  if (policy.signers.some((signer) => excludedMembers.includes(signer))) return 'excluded-signer';
  if (policy.cosigners !== undefined && !arePins(policy.cosigners)) return 'cosigners-malformed';
  if (!isSigningThreshold(policy.signingThreshold, policy.cosigners)) return 'signing-threshold-out-of-range';
  return devicesFault(policy);
}

function devicesFault({ devices, signers }: Omit<Policy, 'vaultId'>): PolicyFault | null {
  if (devices.length > MAX_DEVICES) return 'too-many-devices';
  const sorted = devices.every(({ keyId }, i) => i === 0 || (devices[i - 1]?.keyId ?? '') < keyId);
  if (!sorted) return 'devices-not-sorted';
  return devices.some(({ userId }) => !signers.includes(userId)) ? 'device-of-nobody' : null;
}

/** Returns why a policy cannot be in force before devices are added to it, or null. */
export function missingDeviceFault(policy: Omit<Policy, 'vaultId'>): PolicyFault | null {
  const { approvalMode, devices, rules } = policy;
  // The quorum would count on a signer who cannot approve.
  if (approvalMode === 'device' && signersWithoutDevice(policy).length > 0) return 'signer-without-device';
  // Such a policy could approve nothing, not even the change that ends it.
  const canSatisfy = approvalMode === 'device' && devices.some(({ algorithm }) => algorithm === 'ed25519');
  return rules.requiredDevice === 'ed25519' && !canSatisfy ? 'required-device-missing' : null;
}

/** Returns the signers who own no device of a policy. */
export function signersWithoutDevice({ signers, devices }: Pick<Policy, 'signers' | 'devices'>): readonly UserId[] {
  return signers.filter((signer) => devices.every(({ userId }) => userId !== signer));
}

/**
 * Returns the number of approvals that an intent needs under this policy: the largest number that
 * any of its rules requires.
 */
export function thresholdFor({ threshold, rules }: Policy, exposure: Exposure): number {
  return Math.max(threshold, ...triggeredThresholds(rules, exposure).map(({ approvals }) => approvals));
}

/**
 * Returns the number of approvals that a change of this policy needs: the largest number that the
 * policy requires for anything. With fewer, signers who may not decide on a large amount could
 * redefine it as a small one.
 */
export function thresholdForChange({ threshold, rules }: Policy): number {
  return Math.max(threshold, highestThreshold(rules));
}

/** The domain of a policy's canonical bytes. */
export const POLICY_DOMAIN = 'conclave/policy/v3';

/** Returns the bytes whose SHA-256 identifies this policy. */
export function policyBytes(policy: Policy): Uint8Array {
  const fields: CanonicalField[] = [
    ['vaultId', String(policy.vaultId)],
    ['version', String(policy.version)],
    ['threshold', String(policy.threshold)],
    ['signingThreshold', String(policy.signingThreshold)],
    ['previousHash', policy.previousHash],
    ['signers', String(policy.signers.length)],
    ...policy.signers.map((signer): CanonicalField => ['signer', signer]),
    ['approvalMode', policy.approvalMode],
    ['devices', String(policy.devices.length)],
    ...policy.devices.flatMap((device): CanonicalField[] => [['device', device.keyId], ...deviceFields(device)]),
    ...ruleFields(policy.rules),
    ...(policy.cosigners === undefined ? [] : pinFields(policy.cosigners)),
  ];
  return canonicalBytes(POLICY_DOMAIN, fields);
}

/**
 * Reports whether a policy requires a receipt of every co-signer for a signature. An absent rule is
 * `quorum`.
 */
export function needsReceipts(policy: Pick<Policy, 'rules'> | undefined): boolean {
  return policy?.rules.signOnce === 'every-cosigner';
}
