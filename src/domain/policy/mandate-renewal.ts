import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Refusal } from '#domain/refusal.ts';

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
 * cannot be renewed: co-signers still adopt the policy on it.
 */
export function renewalRefusal(adopted: AdoptedPolicy | null, nowMs: number): Refusal | null {
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
  nowMs: number,
): readonly NeededRenewal[] {
  const needed: NeededRenewal[] = [];
  for (const adopted of policies) {
    const { version } = adopted.policy;
    const waiting = (refused ?? []).filter((one) => one.version <= version).map(({ cosigner }) => cosigner);
    const cosigners = [...new Set(waiting)].toSorted((a, b) => a - b);
    const isWaiting = refused === null || cosigners.length > 0;
    if (isWaiting && renewalRefusal(adopted, nowMs) === null) needed.push({ version, cosigners });
  }
  return needed;
}
