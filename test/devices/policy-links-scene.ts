import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { PolicyLinkBytes } from '#devices/policy-links.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { laptop, phone } from '../cosigner/policy/device-scene.ts';
import { alice, bob, NOON_MS } from '../domain/cast.ts';

const MINUTE_MS = 60_000;

export const hashOf = (policy: Policy): string => bytesToHex(sha256(policyBytes(policy)));

/** Returns the successor of a policy, with the given differences. */
export function successor(before: Policy, differences: Partial<Policy> = {}): Policy {
  return { ...before, version: before.version + 1, previousHash: hashOf(before), ...differences };
}

export const creation = (policy: Policy): PolicyLinkBytes => ({ policy: policyBytes(policy), mandate: null });

type SignApproval = (digest: string) => readonly [Actor, DeviceSignature | null];

export const byLaptop: SignApproval = (digest) => [alice, laptop.signed(digest)];
export const byPhone: SignApproval = (digest) => [bob, phone.signed(digest)];
export const unsigned =
  (actor: Actor): SignApproval =>
  () => [actor, null];

/** Returns the mandate for a policy, approved by alice's laptop and bob's phone by default. */
export function mandateFor(
  policy: Policy,
  approvals: readonly SignApproval[] = [byLaptop, byPhone],
  createdAtMs = NOON_MS,
) {
  const id = newPolicyChangeId(createdAtMs, new Uint8Array(10).fill(policy.version));
  const terms = { id, note: null, createdAtMs, expiresAtMs: createdAtMs + MINUTE_MS };
  const bytes = mandateBytes(terms, hashOf(policy));
  const digest = bytesToHex(sha256(bytes));
  const given = approvals.map((approval): Approval => {
    const [actor, device] = approval(digest);
    return { actor, digest, device, atMs: createdAtMs };
  });
  return { ...terms, bytes, digest, approvals: given };
}

/** Returns a further policy in its wire format. */
export function changed(policy: Policy, approvals?: readonly SignApproval[]): PolicyLinkBytes {
  return { policy: policyBytes(policy), mandate: mandateFor(policy, approvals) };
}
