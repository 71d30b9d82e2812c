import type { AdoptedPolicy, PolicyMandate } from '#domain/policy/policy-change.ts';
import type { Device } from '#domain/access/device.ts';
import type { PolicyChangeId, UserId } from '#domain/id.ts';
import { beginsDeviceMode, missingDevices } from '#domain/policy/founding.ts';
import { missingDeviceFault, signersWithoutDevice } from '#domain/policy/policy.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyRefusal } from '#domain/policy/refusal.ts';

/**
 * A mandate expires. A co-signer that was unreachable for longer adopts the policy by the
 * attestations of t others. When there are never t others (t = n), or none has adopted the policy
 * (a vault without a key), the quorum that approved the policy gives a new mandate for exactly the
 * same bytes.
 */

/**
 * A co-signer that refused a policy because its mandate has expired and too few others attest it.
 */
export interface ExpiredAdoption {
  readonly cosigner: number;
  /** The first version that it lacks and whose mandate has expired. */
  readonly version: number;
}

/** A version whose mandate must be renewed before co-signers can adopt it. */
export interface NeededRenewal {
  readonly version: number;
  /**
   * The co-signers that wait for the renewal; empty for a vault without a key, where all of them
   * do.
   */
  readonly cosigners: readonly number[];
}

/**
 * Returns why the mandate of a policy cannot be renewed, or null. A mandate that has not expired
 * cannot be renewed: co-signers still adopt the policy on it. They do not adopt an unfounded policy
 * on any mandate but a new one.
 *
 * @param unfounded see `unfoundedPolicy`
 */
export function renewalRefusal(
  adopted: AdoptedPolicy | null,
  { nowMs, unfounded }: { readonly nowMs: number; readonly unfounded: Unfounded | null },
): PolicyRefusal | null {
  if (adopted !== null && adopted.policy.version === unfounded?.version) {
    return missingDeviceFault(adopted.policy) === null ? null : { code: 'founding-incomplete' };
  }
  const mandate = adopted?.mandate ?? null;
  if (mandate === null) return { code: 'policy-version-not-found' };
  const { expiresAtMs } = mandate;
  return nowMs < expiresAtMs ? { code: 'mandate-in-force', expiresAtMs } : null;
}

/**
 * Returns the versions whose mandates must be renewed, in order. A co-signer adopts all versions
 * that it lacks as one list, so one that refused a version also waits for every later one whose
 * mandate has expired.
 *
 * @param refused refusals of the co-signers that have a key of the vault; null for a vault without
 *   a key
 */
export function neededRenewals(
  policies: Iterable<AdoptedPolicy>,
  refused: readonly ExpiredAdoption[] | null,
  terms: { readonly nowMs: number; readonly unfounded: Unfounded | null },
): readonly NeededRenewal[] {
  const needed: NeededRenewal[] = [];
  for (const adopted of policies) {
    const { version } = adopted.policy;
    const waiting = (refused ?? []).filter((one) => one.version <= version).map(({ cosigner }) => cosigner);
    const cosigners = [...new Set(waiting)].toSorted((a, b) => a - b);
    const isWaiting = refused === null || cosigners.length > 0;
    if (isWaiting && renewalRefusal(adopted, terms) === null) needed.push({ version, cosigners });
  }
  return needed;
}

/**
 * A policy in device mode that its signers have not founded yet. Version 1 is a draft until then:
 * signers add their devices to it, and every change of it is in force at once. No co-signer takes
 * it before all of its devices have approved it.
 */
export interface Unfounded {
  readonly version: number;
  /** The devices that have not approved it. */
  readonly missing: readonly Device[];
  /** The signers who have to add a device before the others can approve it. */
  readonly withoutDevice: readonly UserId[];
  /** Whether the policy requires an Ed25519 device, and has none. */
  readonly lacksRequiredDevice: boolean;
}

/** What a vault without a key lacks before its co-signers take its policies. */
export interface Founding extends Unfounded {
  /** The pending policy change that founds the vault; null after its expiry or end. */
  readonly changeId: PolicyChangeId | null;
}

/**
 * Returns the first policy in device mode if not all of its devices have approved it, else null.
 * The signatures were verified when they were recorded.
 *
 * @param policies every policy of the vault, in order
 * @param digestOf returns the digest that approvals of a mandate name
 */
export function unfoundedPolicy(
  policies: Iterable<AdoptedPolicy>,
  digestOf: (mandate: Omit<PolicyMandate, 'policy'>, policy: Policy) => string,
): Unfounded | null {
  let before: Policy | null = null;
  for (const { policy, mandate } of policies) {
    if (beginsDeviceMode(policy, before)) {
      const missing =
        mandate === null ? policy.devices : missingDevices(digestOf(mandate, policy), mandate.approvals, policy);
      const lack = missingDeviceFault(policy);
      if (missing.length > 0 || lack !== null) {
        const lacksRequiredDevice = lack === 'required-device-missing';
        return { version: policy.version, missing, withoutDevice: signersWithoutDevice(policy), lacksRequiredDevice };
      }
    }
    before = policy;
  }
  return null;
}
