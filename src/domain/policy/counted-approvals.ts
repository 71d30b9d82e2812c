import type { Approval } from '#domain/access/approval.ts';
import type { DeviceKeyId, UserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';

/**
 * Reports whether an approval counts under a policy. It does not verify the signature: the
 * coordinator does so before it stores an approval, and a co-signer before it counts one
 * (`verifiedApprovals`).
 */
export function countsUnder(
  { actor: { userId }, device }: Pick<Approval, 'actor' | 'device'>,
  policy: Policy,
): boolean {
  if (!policy.signers.includes(userId)) return false;
  if (policy.approvalMode === 'token') return true;
  return policy.devices.some(({ keyId, userId: owner }) => keyId === device?.keyId && owner === userId);
}

/** Reports whether an approval lacks a device signature although the policy counts devices. */
export function lacksDeviceSignature({ device }: Pick<Approval, 'device'>, { approvalMode }: Policy): boolean {
  return approvalMode === 'device' && device === null;
}

/**
 * Returns the distinct signers whose approval of exactly this digest counts under a policy. The
 * approval of a removed signer does not count, and two tokens or devices of one signer count once
 * (spec part 3). The coordinator and every co-signer use this one rule.
 *
 * @param digest lower-case hex, of an intent or of the mandate of a policy
 */
export function countedApprovers(digest: string, approvals: readonly Approval[], policy: Policy): ReadonlySet<UserId> {
  return new Set(countedApprovals(digest, approvals, policy).map(({ actor }) => actor.userId));
}

/** Returns the approvals of exactly this digest that count under a policy. */
function countedApprovals(digest: string, approvals: readonly Approval[], policy: Policy): readonly Approval[] {
  return approvals.filter((approval) => approval.digest === digest && countsUnder(approval, policy));
}

/**
 * Reports whether the counted approvals include the device that the policy requires. An attacker
 * that serves or alters a page does not reach a device that signs outside a browser.
 */
export function hasRequiredDevice(digest: string, approvals: readonly Approval[], policy: Policy): boolean {
  if ((policy.rules.requiredDevice ?? 'any') === 'any') return true;
  return countedApprovals(digest, approvals, policy).some(({ device }) =>
    isRequiredDevice(device?.keyId ?? null, policy),
  );
}

/** Reports whether a device is of the kind that the policy requires. */
export function isRequiredDevice(keyId: DeviceKeyId | null, { rules, devices }: Policy): boolean {
  const { requiredDevice = 'any' } = rules;
  if (requiredDevice === 'any') return true;
  return devices.some((device) => device.keyId === keyId && device.algorithm === requiredDevice);
}
