import type { Device } from '#domain/access/device.ts';
import type { UserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Approval } from '#domain/access/approval.ts';

/**
 * The founding of a vault in device mode. The devices of a policy are what every later approval is
 * verified against. No device vouches for the first ones, so a coordinator could add devices of its
 * own. Therefore every device of the first policy in device mode signs it, after its owner read the
 * whole of it. Co-signers take no such policy without these signatures, and a vault has no address
 * before.
 *
 * One device of each signer would not do: the added devices could sign for all signers, beside the
 * true devices, and no signer would read the policy. When all devices sign, a first policy that has
 * the device of an honest signer was read by that signer. A coordinator can still begin with its
 * own devices alone and add others later. The device of a founder then finds another history than
 * the one that it stored (`pinsUnder`).
 */

/**
 * Reports whether a policy is in device mode and the one before it is not.
 *
 * @param before null for version 1
 */
export function beginsDeviceMode(
  policy: Pick<Policy, 'version' | 'approvalMode'>,
  before: Pick<Policy, 'approvalMode'> | null,
): boolean {
  return policy.approvalMode === 'device' && (policy.version === 1 || before?.approvalMode !== 'device');
}

/**
 * Returns the signers who sign a proposed policy with each of their devices; none when a policy in
 * device mode precedes it.
 *
 * @param decider the policy whose quorum decides; for the founding of version 1 that policy itself
 */
export function foundersOf(policy: Policy, decider: Policy): readonly UserId[] {
  return beginsDeviceMode(policy, decider) ? policy.signers : [];
}

/**
 * Returns the devices of a policy that have not approved it.
 *
 * @param digest of the mandate
 */
export function missingDevices(digest: string, approvals: readonly Approval[], policy: Policy): readonly Device[] {
  const counted = approvals.filter((approval) => approval.digest === digest);
  return policy.devices.filter(({ keyId, userId }) =>
    counted.every(({ actor, device }) => device?.keyId !== keyId || actor.userId !== userId),
  );
}
