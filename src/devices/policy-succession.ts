import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { verifiedApprovals } from '#devices/device-signature.ts';
import { changedDevice } from '#domain/access/device.ts';
import type { VaultId } from '#domain/id.ts';
import { missingDevices } from '#domain/policy/founding.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes, thresholdForChange } from '#domain/policy/policy.ts';
import type { PolicyMandate } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { hasRequiredDevice, countedApprovers } from '#domain/policy/counted-approvals.ts';
import type { Approval } from '#domain/access/approval.ts';

/** The one rule of succession of policies, for co-signers and for devices. */

/** The mandate that put a policy in force: the terms of the change, and its approvals. */
export interface ApprovedMandate extends Omit<PolicyMandate, 'policy'> {
  readonly approvals: readonly Approval[];
}

const HASHES = new WeakMap<Policy, string>();

/**
 * Returns the lower-case hex SHA-256 of the canonical bytes of a policy, computed once for each
 * object.
 */
export function policyHashOf(policy: Policy): string {
  const hash = HASHES.get(policy) ?? bytesToHex(sha256(policyBytes(policy)));
  HASHES.set(policy, hash);
  return hash;
}

/** How requests and attestations name a policy. The hash fixes every policy before it. */
export interface PolicyName {
  readonly vaultId: VaultId;
  readonly version: number;
  /** Lower-case hex SHA-256 of the policy. */
  readonly hash: string;
}

export function nameOf(policy: Policy): PolicyName {
  return { vaultId: policy.vaultId, version: policy.version, hash: policyHashOf(policy) };
}

/** Returns the digest that every approval of a policy change signs, in lower-case hex. */
export function mandateDigest(mandate: Omit<PolicyMandate, 'policy'>, policy: Policy): string {
  return bytesToHex(sha256(mandateBytes(mandate, policyHashOf(policy))));
}

type MandateFault =
  | 'device-changed'
  | 'signing-threshold-changed'
  | 'no-mandate'
  | 'not-enough-approvals'
  | 'required-device-missing';

/**
 * Reports whether every device of a policy in device mode approved it. Co-signers require it of a
 * policy that no policy in device mode precedes (`beginsDeviceMode`).
 */
export async function isFounded(policy: Policy, mandate: ApprovedMandate | null): Promise<boolean> {
  if (mandate === null) return false;
  const proven = await verifiedApprovals(mandate.approvals, policy);
  return missingDevices(mandateDigest(mandate, policy), proven, policy).length === 0;
}

export type SuccessionFault = 'not-the-next' | MandateFault;

/**
 * Returns why `next` is not a valid successor of `current`, or null: version + 1, same vault, hash
 * chained, no device of the same key that differs, the same signing threshold, and approved by the
 * quorum of `current`. Under a policy in token mode only the coordinator vouches for the approvals:
 * a reader that does not trust the coordinator must not accept such a step.
 *
 * It does not prove that `next` is in force: a quorum can approve a change that is then rejected or
 * that expires, and its signatures remain. The expiry of the mandate is not checked, since only the
 * clock of a co-signer at the adoption can do so.
 */
export async function successionFault(
  current: Policy,
  next: Policy,
  mandate: ApprovedMandate | null,
): Promise<SuccessionFault | null> {
  const isNext =
    next.version === current.version + 1 &&
    next.vaultId === current.vaultId &&
    next.previousHash === policyHashOf(current);
  return isNext ? mandateFault(current, next, mandate) : 'not-the-next';
}

/**
 * Returns why the quorum of `current` did not approve a later policy, or null. The policy may be a
 * successor of another history, so its version and its predecessor are not compared.
 */
export async function mandateFault(
  current: Policy,
  next: Policy,
  mandate: ApprovedMandate | null,
): Promise<MandateFault | null> {
  if (changedDevice(current.devices, next.devices) !== null) return 'device-changed';
  if (next.signingThreshold !== current.signingThreshold) return 'signing-threshold-changed';
  if (mandate === null) return 'no-mandate';
  const digest = mandateDigest(mandate, next);
  const proven = await verifiedApprovals(mandate.approvals, current);
  if (countedApprovers(digest, proven, current).size < thresholdForChange(current)) return 'not-enough-approvals';
  return hasRequiredDevice(digest, proven, current) ? null : 'required-device-missing';
}
