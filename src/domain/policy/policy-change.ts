import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { foundersOf, missingDevices } from '#domain/policy/founding.ts';
import type { PolicyChangeState } from '#domain/policy/change-state.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import {
  hasRequiredDevice,
  isRequiredDevice,
  countedApprovers,
  lacksDeviceSignature,
} from '#domain/policy/counted-approvals.ts';
import type { DisabledAccess } from '#domain/access/disabled-access.ts';
import { isWithdrawn } from '#domain/access/disabled-access.ts';
import type { Device, DeviceSignature } from '#domain/access/device.ts';
import type { PolicyChangeId, UserId } from '#domain/id.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission, mayCancel } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyRefusal } from '#domain/policy/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor, Approval, Rejection } from '#domain/access/approval.ts';

/**
 * Ours: how long co-signers can still adopt a policy after the end of the decision. Every co-signer
 * is unreachable for less time, or nothing is signed anyway.
 */
export const ADOPTION_PERIOD_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Ours: the number of policies that a co-signer takes in one request. The size of a request bounds
 * them, too.
 */
export const MAX_POLICIES_AT_ONCE = 1000;

/**
 * What signers approve: exactly this next policy. No co-signer adopts it on this mandate after
 * `expiresAtMs`.
 */
export interface PolicyMandate {
  readonly id: PolicyChangeId;
  /** The next policy, which names the policy that it follows. */
  readonly policy: Policy;
  readonly note: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A proposed policy, and the signers' decisions on it. */
export interface PolicyChange extends PolicyMandate {
  /**
   * Signers decide until this time. The mandate lasts longer, because co-signers adopt the policy
   * after the last approval, and an unreachable one adopts it later.
   */
  readonly decisionEndsAtMs: number;
  /**
   * The version whose mandate this change renews: `policy` equals the adopted policy of that
   * version byte for byte. Absent for an ordinary change to a policy that was never adopted.
   */
  readonly renewsVersion?: number;
  /** Lower-case hex SHA-256 of `mandateBytes`. Every approval names it. */
  readonly digest: string;
  /**
   * `thresholdForChange` of the policy whose quorum decides: the one in force, or for a renewal the
   * one before the version that it renews. It stays the same while the change is pending.
   */
  readonly requiredApprovals: number;
  readonly state: PolicyChangeState;
  /** A signer is in one of the two lists at most: the newest decision counts. */
  readonly approvals: readonly Approval[];
  /** Their digest is the one of the change. A device signed the rejection (`rejectionBytes`). */
  readonly rejections: readonly Rejection[];
  /** Null for an operator, over the internal interface. */
  readonly createdBy: Actor | null;
  readonly updatedAtMs: number;
}

export type PolicyChangeEvent =
  | { readonly type: 'approve'; readonly actor: Actor; readonly device: DeviceSignature | null }
  | {
      readonly type: 'reject';
      readonly actor: Actor;
      readonly device: DeviceSignature | null;
      readonly reason?: string;
    }
  | { readonly type: 'cancel'; readonly actor: Actor }
  /** Access was disabled: decisions that count no more are removed. */
  | { readonly type: 'drop-decisions'; readonly disabledAccess: readonly DisabledAccess[] }
  | { readonly type: 'expire' | 'supersede' };

/**
 * A policy that was adopted, with its mandate; null for the first policy, with which the operator
 * created the vault, until its signers have founded it.
 */
export interface AdoptedPolicy {
  readonly policy: Policy;
  readonly mandate: (PolicyMandate & { readonly approvals: readonly Approval[] }) | null;
}

/** The domain of a mandate's canonical bytes. */
export const MANDATE_DOMAIN = 'conclave/policy-change/v1';

/**
 * Returns the bytes whose SHA-256 the approvals of a change name.
 *
 * @param policyHash lower-case hex SHA-256 of the policy
 */
export function mandateBytes(mandate: Omit<PolicyMandate, 'policy'>, policyHash: string): Uint8Array<ArrayBuffer> {
  const fields: CanonicalField[] = [
    ['id', mandate.id],
    ['policyHash', policyHash],
    ['note', mandate.note],
    ['createdAtMs', String(mandate.createdAtMs)],
    ['expiresAtMs', String(mandate.expiresAtMs)],
  ];
  return canonicalBytes(MANDATE_DOMAIN, fields);
}

/**
 * Returns the change after an event. Pure. Returns the same object when nothing changes: for a
 * repetition, or for a timer that fires late.
 *
 * A rejection ends the change only when it can no longer be adopted. Otherwise one signer would
 * have a veto over every change. In device mode a rejection needs a device, as an approval does.
 * Otherwise the thief of one token could withdraw the approvals of its owner, and with few signers
 * end every change.
 *
 * Refuses, in order: `policy-change-not-pending` for a decision after the end, unless it repeats
 * the caller's own; `removed-by-change`; `device-signature-required`.
 *
 * @param current the policy whose quorum decides: the one in force, or for a renewal the one before
 *   the version that it renews
 */
export function decideChange(
  change: PolicyChange,
  event: PolicyChangeEvent,
  { current, nowMs }: { readonly current: Policy; readonly nowMs: number },
): Result<PolicyChange, PolicyRefusal> {
  const ended = (state: PolicyChangeState): PolicyChange => ({ ...change, state, updatedAtMs: nowMs });
  if (change.state !== 'PENDING') {
    const settled = 'actor' in event ? isRepeated(change, event) : true;
    return settled ? accepted(change) : refused({ code: 'policy-change-not-pending', state: change.state });
  }
  if ('actor' in event && isExcluded(change, event.actor.userId, current)) {
    return refused({ code: 'removed-by-change' });
  }
  switch (event.type) {
    case 'expire':
      return accepted(nowMs < change.decisionEndsAtMs ? change : ended('EXPIRED'));
    case 'supersede':
      return accepted(ended('SUPERSEDED'));
    case 'cancel':
      return accepted(ended('CANCELLED'));
    case 'drop-decisions': {
      const stays = (decision: Approval) => !isWithdrawn(event.disabledAccess, decision);
      const [approvals, rejections] = [change.approvals.filter(stays), change.rejections.filter(stays)];
      const isSame = approvals.length === change.approvals.length && rejections.length === change.rejections.length;
      return accepted(isSame ? change : { ...ended('PENDING'), approvals, rejections });
    }
    case 'reject': {
      if (lacksDeviceSignature(event, current)) return refused({ code: 'device-signature-required' });
      if (isRepeated(change, event)) return accepted(change);
      const { reason } = event;
      const rejection = { ...approvalOf(change, event, nowMs), ...(reason === undefined ? {} : { reason }) };
      const rejections = [...change.rejections, rejection];
      // The approval is removed, so that no mandate contains an approval that was withdrawn.
      const approvals = without(change.approvals, event.actor);
      const rejecters = new Set(rejections.map(({ actor }) => actor.userId));
      const remaining = countedSigners(change, current).filter((userId) => !rejecters.has(userId));
      const state = canAdopt(remaining, change, current) ? 'PENDING' : 'REJECTED';
      return accepted({ ...ended(state), approvals, rejections });
    }
    case 'approve': {
      if (nowMs >= change.decisionEndsAtMs) return refused({ code: 'policy-change-not-pending', state: 'EXPIRED' });
      const { actor, device } = event;
      if (lacksDeviceSignature(event, judgeOf(change, actor.userId, current)))
        return refused({ code: 'device-signature-required' });
      // A signer whose first approval came from another device, or from none, can still give the
      // required ones.
      const completes =
        unsignedDevices(change, current).some(({ keyId }) => keyId === device?.keyId) ||
        (!hasRequiredDevice(change.digest, change.approvals, current) &&
          isRequiredDevice(device?.keyId ?? null, current));
      if (isRepeated(change, event) && !completes) return accepted(change);
      const approvals = [...change.approvals, approvalOf(change, event, nowMs)];
      const rejections = without(change.rejections, event.actor);
      const enough =
        countedApprovers(change.digest, approvals, current).size >= change.requiredApprovals &&
        hasRequiredDevice(change.digest, approvals, current) &&
        unsignedDevices({ ...change, approvals }, current).length === 0;
      return accepted({ ...ended(enough ? 'ADOPTED' : 'PENDING'), approvals, rejections });
    }
  }
}

/**
 * Returns the signers of the deciding policy whose decisions on a change count. A signer whom the
 * change removes does not count, because no signer can have a veto over the own removal.
 *
 * All signers count where the others cannot adopt the change: too few of them remain (2 of 2
 * removes one), or none of them has the required device. Co-signers judge the mandate by the whole
 * deciding policy (`successionFault`), so without the removed signer such a change could never be
 * adopted. A renewal removes no signer: its policy is already adopted.
 */
function countedSigners(change: PolicyChange, current: Policy): readonly UserId[] {
  if (isRenewal(change)) return current.signers;
  const remaining = current.signers.filter((userId) => change.policy.signers.includes(userId));
  return canAdopt(remaining, change, current) ? remaining : current.signers;
}

/** Reports whether the approvals of all these signers would adopt a change. */
function canAdopt(
  signers: readonly UserId[],
  { requiredApprovals, policy }: Pick<PolicyChange, 'requiredApprovals' | 'policy'>,
  current: Policy,
): boolean {
  if (signers.length < requiredApprovals) return false;
  if (!foundersOf(policy, current).every((userId) => signers.includes(userId))) return false;
  if ((current.rules.requiredDevice ?? 'any') === 'any') return true;
  return current.devices.some(({ keyId, userId }) => signers.includes(userId) && isRequiredDevice(keyId, current));
}

/**
 * Reports whether a person can neither approve, reject nor cancel a change: it removes a signer,
 * and the other signers can adopt it, or it excludes a member who is no signer.
 */
export function isExcluded(change: PolicyChange, userId: UserId, current: Policy): boolean {
  if (current.signers.includes(userId)) return !countedSigners(change, current).includes(userId);
  const { excludedMembers = [] } = change.policy.rules;
  return excludedMembers.includes(userId);
}

/**
 * Reports whether a member may cancel a change. An admin does not cancel the change of a signer:
 * otherwise an admin whom the thief of a service key plants would cancel each change that removes
 * the admin. Signers reject it.
 */
export function mayCancelChange(
  member: Member,
  { createdBy }: Pick<PolicyChange, 'createdBy'>,
  { signers }: Policy,
): boolean {
  const creator = createdBy?.userId ?? null;
  const isOfAnotherSigner = creator !== null && creator !== member.userId && signers.includes(creator);
  return !isOfAnotherSigner && mayCancel(member, creator, 'propose');
}

/**
 * Returns the devices that have not signed a change which begins device mode; none for another
 * change.
 */
function unsignedDevices(
  { policy, digest, approvals }: Pick<PolicyChange, 'policy' | 'digest' | 'approvals'>,
  decider: Policy,
): readonly Device[] {
  return foundersOf(policy, decider).length === 0 ? [] : missingDevices(digest, approvals, policy);
}

/**
 * Returns the policy whose devices count for a signer's approval of a change. A founder signs with
 * a device of the proposed policy, because the one before has none that count.
 */
export function judgeOf({ policy }: Pick<PolicyChange, 'policy'>, userId: UserId, decider: Policy): Policy {
  return foundersOf(policy, decider).includes(userId) ? policy : decider;
}

/** Reports whether a change renews the mandate of a policy that was adopted before. */
export function isRenewal({ renewsVersion }: Pick<PolicyChange, 'renewsVersion'>): boolean {
  return renewsVersion !== undefined;
}

/**
 * Reports whether a member's approval of a change counts. Co-signers judge a renewal by the policy
 * before that version. Therefore exactly the signers of that policy approve it, including those
 * that are no longer signers.
 *
 * @param decider the policy whose quorum decides
 */
export function mayApprove(member: Member, change: Pick<PolicyChange, 'renewsVersion'>, decider: Policy): boolean {
  return isRenewal(change) ? decider.signers.includes(member.userId) : hasPermission(member, 'decide');
}

/**
 * Reports whether a pending change waits for the approval of a member, or of another device of the
 * member where every device founds the vault.
 *
 * @param decider the policy whose quorum decides
 */
export function awaitsChangeApprovalOf(member: Member, change: PolicyChange, decider: Policy): boolean {
  const { userId } = member;
  if (isExcluded(change, userId, decider) || !mayApprove(member, change, decider)) return false;
  // Every device founds a vault, also the second one of a signer.
  const isUnsigned = unsignedDevices(change, decider).some((device) => device.userId === userId);
  return isUnsigned || !change.approvals.some(({ actor }) => actor.userId === userId);
}

/**
 * Reports whether a member's rejection of a change counts. A user who is no longer a signer can
 * approve a renewal, but not end it. A signer who cannot approve a renewal cannot reject it either.
 */
export function mayReject(member: Member, change: Pick<PolicyChange, 'renewsVersion'>, decider: Policy): boolean {
  return hasPermission(member, 'decide') && mayApprove(member, change, decider);
}

function without<T extends Approval>(decisions: readonly T[], { userId }: Actor): readonly T[] {
  return decisions.filter(({ actor }) => actor.userId !== userId);
}

function approvalOf(
  { digest }: PolicyChange,
  { actor, device }: Pick<Approval, 'actor' | 'device'>,
  nowMs: number,
): Approval {
  return { actor, digest, device, atMs: nowMs };
}

/**
 * Reports whether this member made the same decision before. An approval of a change that ended
 * otherwise is not a repetition but too late.
 */
function isRepeated(change: PolicyChange, event: { readonly type: string; readonly actor: Actor }): boolean {
  const { userId } = event.actor;
  if (event.type === 'cancel') return change.state === 'CANCELLED';
  const isReject = event.type === 'reject';
  const stands = change.state === 'PENDING' || change.state === (isReject ? 'REJECTED' : 'ADOPTED');
  const decisions = isReject ? change.rejections : change.approvals;
  return stands && decisions.some(({ actor }) => actor.userId === userId);
}
