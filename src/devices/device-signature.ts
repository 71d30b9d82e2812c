import { hexToBytes } from '@noble/hashes/utils.js';
import { bytesOfText } from '#devices/base64url.ts';
import { verifyDeviceSignature } from '#devices/verify-signature.ts';
import type { SignatureFault } from '#devices/webauthn.ts';
import { assertionFault } from '#devices/webauthn.ts';
import type { Device, DeviceSignature } from '#domain/access/device.ts';
import { lacksDeviceSignature } from '#domain/policy/counted-approvals.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Approval } from '#domain/access/approval.ts';

const EDWARDS_SIGNATURE_BYTES = 64;

/**
 * Returns what is wrong with a device's signature over a digest (lower-case hex of 32 bytes), or
 * null.
 */
export async function signatureFault(
  device: Device,
  digest: string,
  signed: DeviceSignature,
): Promise<SignatureFault | null> {
  if (signed.keyId !== device.keyId) return 'malformed';
  if (device.algorithm === 'webauthn-p256') return assertionFault(device, digest, signed);
  const signature = bytesOfText(signed.signature);
  if (signed.assertion !== null || signature?.length !== EDWARDS_SIGNATURE_BYTES) return 'malformed';
  return (await verifyDeviceSignature(device, signature, hexToBytes(digest))) ? null : 'wrong-signature';
}

/** Returns why a decision without a device signature is refused, or null. */
export function unsignedRefusal(policy: Policy): Refusal | null {
  return lacksDeviceSignature({ device: null }, policy) ? { code: 'device-signature-required' } : null;
}

/**
 * Returns why an approval, or a rejection of a policy change, is refused, or null. A signature that
 * is not required must be valid, too.
 * Refuses, in order: `device-signature-required`, `device-signature-refused`.
 */
export async function deviceSignatureRefusal(
  { actor, digest, device: signed }: Omit<Approval, 'atMs'>,
  policy: Policy,
): Promise<Refusal | null> {
  if (signed === null) return unsignedRefusal(policy);
  const device = deviceOf({ actor, device: signed }, policy);
  const fault = device === null ? 'unknown-device' : await signatureFault(device, digest, signed);
  return fault === null ? null : { code: 'device-signature-refused', fault };
}

/**
 * The device whose signature an approval was found to have. Both are immutable, so the result is
 * final. A co-signer checks each approval again before the last round of a signature.
 */
const VERIFIED = new WeakMap<Approval, Device>();

/**
 * Returns the approvals that are verified: in device mode, those with a valid signature of their
 * own signer's device. An approval that cannot count is not verified. In token mode, all approvals.
 */
export async function verifiedApprovals(approvals: readonly Approval[], policy: Policy): Promise<readonly Approval[]> {
  if (policy.approvalMode === 'token') return approvals;
  const proven: Approval[] = [];
  for (const approval of approvals) {
    const device = deviceOf(approval, policy);
    if (device === null || approval.device === null) continue;
    const isValid =
      VERIFIED.get(approval) === device || (await signatureFault(device, approval.digest, approval.device)) === null;
    if (!isValid) continue;
    VERIFIED.set(approval, device);
    proven.push(approval);
  }
  return proven;
}

function deviceOf({ actor, device: signed }: Pick<Approval, 'actor' | 'device'>, { devices }: Policy): Device | null {
  return devices.find(({ keyId, userId }) => keyId === signed?.keyId && userId === actor.userId) ?? null;
}
