import { CREATION_TOLERANCE_MS } from '#cosigner/policy/approval-check.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { PolicyWithMandate } from '#cosigner/signed-document.ts';
import { policyWithMandateOf } from '#cosigner/signed-document.ts';
import type { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import type { ApprovedMandate } from '#devices/policy-succession.ts';
import { isFounded, mandateFault, policyHashOf, successionFault } from '#devices/policy-succession.ts';
import type { VaultId } from '#domain/id.ts';
import { MAX_APPROVAL_LIFETIME_MS } from '#domain/transaction/intent.ts';
import { beginsDeviceMode } from '#domain/policy/founding.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY } from '#domain/policy/policy.ts';
import { MAX_POLICIES_AT_ONCE } from '#domain/policy/policy-change.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Reports whether a mandate does not count now: it has expired, it would live longer than any
 * approval may, or it was created ahead of this clock. Only the coordinator knows the rejections
 * and cancellations of a change, so without these bounds a mandate could be used years after its
 * signers rejected or cancelled it.
 */
export function isExpired({ createdAtMs, expiresAtMs }: ApprovedMandate, nowMs: number): boolean {
  const isAhead = createdAtMs > nowMs + CREATION_TOLERANCE_MS;
  return nowMs >= expiresAtMs || isAhead || expiresAtMs - createdAtMs > MAX_APPROVAL_LIFETIME_MS;
}

/** Policies that a co-signer received and does not have. */
export interface NewPolicies {
  /** In order, at least one. Each is a valid successor of the one before. */
  readonly policies: readonly Policy[];
  readonly head: Policy;
  /** Null for a first policy in token mode, and for one of release 0.2.0. */
  readonly mandate: ApprovedMandate | null;
  /** The version of the first policy before the head whose mandate has expired, or null. */
  readonly expiredBefore: number | null;
  /** The quorum of the policy in force here approved the head itself. */
  readonly isDirect: boolean;
  /**
   * The version of a first policy in device mode that not all of its devices have approved, or
   * null. It counts on the attestations of others alone.
   */
  readonly unfounded: number | null;
}

/** Yields the policies of a list, each parsed on demand. Throws `Malformed`. */
export function* parsePolicies(value: unknown): Generator<PolicyWithMandate> {
  if (!Array.isArray(value) || value.length > MAX_POLICIES_AT_ONCE)
    throw new Malformed('not a list of policies, or too long');
  for (const one of value) yield policyWithMandateOf(one);
}

/**
 * Returns the policies of a list that the vault does not have, or null when it has all of them. The
 * first of them follows a policy of the vault, and every further one is a valid successor
 * (`successionFault`). They are parsed and checked one by one, so a long list of policies without
 * mandates costs little.
 *
 * Refuses `policy-mismatch` with the version in force for a list that does not follow from the
 * policies of the vault, that ends below the version in force, or that replaces policies without
 * the approval of the quorum in force. Throws `Malformed`.
 */
export async function newPolicies(
  { vaultId, vault, nowMs }: { readonly vaultId: VaultId; readonly vault: VaultPolicies; readonly nowMs: number },
  sent: Iterable<PolicyWithMandate>,
): Promise<Result<NewPolicies | null, Refused>> {
  const [version, isPinned] = [vault.version(), vault.isPinned()];
  const mismatch = refused(refusal('policy-mismatch', String(version)));
  const policies: Policy[] = [];
  let last: ApprovedMandate | null = null;
  let expiredBefore: number | null = null;
  let unfounded: number | null = null;
  for (const { policy, mandate } of sent) {
    const previous: Policy | undefined = policies.at(-1);
    if (previous === undefined && isPinned && vault.hashAt(policy.version) === policyHashOf(policy)) continue;
    const before = previous ?? vault.at(policy.version - 1);
    const isFirst = previous === undefined && !isPinned && isFirstPolicy(policy, mandate);
    const isNext = before !== null && (await successionFault(before, policy, mandate)) === null;
    if (policy.vaultId !== vaultId || !(isFirst || isNext)) return mismatch;
    if (beginsDeviceMode(policy, before) && !(await isFounded(policy, mandate))) unfounded ??= policy.version;
    if (previous !== undefined && last !== null && isExpired(last, nowMs)) expiredBefore ??= previous.version;
    policies.push(policy);
    last = mandate;
  }
  const [first, head] = [policies[0], policies.at(-1)];
  if (first === undefined || head === undefined) return accepted(null);
  const isFork = isPinned && first.version <= version;
  if (isFork && head.version <= version) return mismatch;
  const current = vault.at(version);
  const isDirect = current !== null && last !== null && (await mandateFault(current, head, last)) === null;
  if (isFork && !isDirect) return mismatch;
  const isByDevices = isDirect && current?.approvalMode === 'device';
  return accepted({
    policies,
    head,
    mandate: last,
    expiredBefore,
    isDirect,
    unfounded: isByDevices ? null : unfounded,
  });
}

function isFirstPolicy({ version, previousHash, approvalMode }: Policy, mandate: ApprovedMandate | null): boolean {
  const isUnapproved = mandate === null || approvalMode === 'device';
  return version === 1 && previousHash === NO_PREVIOUS_POLICY && isUnapproved;
}
