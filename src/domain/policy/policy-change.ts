import type { CanonicalField } from '#domain/canonical/bytes.ts';
import type { PolicyChangeState } from '#domain/policy/change-state.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { hasRequiredDevice, isRequiredDevice, countedApprovers } from '#domain/transaction/approvals.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { lacksDeviceSignature } from '#domain/transaction/approvals.ts';
import type { PolicyChangeId } from '#domain/id.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor, Approval } from '#domain/transaction/transaction.ts';

/**
 * Ours: how long after the last moment of the decision co-signers can still adopt a policy. Every co-signer is away for less,
 * or nothing is signed anyway.
 */
export const ADOPTION_PERIOD_MS = 7 * 24 * 60 * 60 * 1000;

/** What signers approve: exactly this next policy. No co-signer adopts it on this mandate after `expiresAtMs`. */
export interface PolicyMandate {
  readonly id: PolicyChangeId;
  /** Names the policy that it follows. */
  readonly policy: Policy;
  readonly note: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** A policy that somebody wants, and what the signers of now say to it. */
export interface PolicyChange extends PolicyMandate {
  /**
   * Signers decide until then. The mandate lasts longer, because co-signers adopt the policy after the last approval, and one
   * that is away adopts it later. Absent from changes of before: signers decide until the mandate ends.
   */
  readonly decisionEndsAtMs?: number;
  /**
   * The version whose mandate this change renews: `policy` is the adopted policy of that version, to
   * the byte. Absent: an ordinary change, to a policy that was never adopted.
   */
  readonly renewsVersion?: number;
  /** Lower-case hex SHA-256 of `mandateBytes`: what every vote names. */
  readonly digest: string;
  /**
   * `thresholdForChange` of the policy whose quorum decides: the one in force, or for a renewal the one
   * before the version that it renews. It is the same for as long as this is pending.
   */
  readonly requiredApprovals: number;
  readonly state: PolicyChangeState;
  readonly approvals: readonly Approval[];
  readonly rejection: Approval | null;
  /** Null: an operator, over the internal interface. */
  readonly createdBy: Actor | null;
  readonly updatedAtMs: number;
}

export type PolicyChangeEvent =
  | { readonly type: 'approve'; readonly actor: Actor; readonly device: DeviceSignature | null }
  | { readonly type: 'reject' | 'cancel'; readonly actor: Actor }
  | { readonly type: 'expire' | 'supersede' };

/** A policy that is in force, with what brought it there; null for the first one, which the operator has founded the vault with. */
export interface AdoptedPolicy {
  readonly policy: Policy;
  readonly mandate: (PolicyMandate & { readonly approvals: readonly Approval[] }) | null;
}

/** The bytes whose SHA-256 the voices for a change name. @param policyHash lower-case hex SHA-256 of the policy */
export function mandateBytes(mandate: Omit<PolicyMandate, 'policy'>, policyHash: string): Uint8Array<ArrayBuffer> {
  const fields: CanonicalField[] = [
    ['id', mandate.id],
    ['policyHash', policyHash],
    ['note', mandate.note],
    ['createdAtMs', String(mandate.createdAtMs)],
    ['expiresAtMs', String(mandate.expiresAtMs)],
  ];
  return canonicalBytes('conclave/policy-change/v1', fields);
}

/**
 * Decides what an event does to a change. Pure. Gives the same object when it changes nothing: a repeat, or time that comes late.
 *
 * Refuses, in order: `policy-change-not-pending` for a voice that comes after the end, unless it is a repeat of the caller's own;
 * `device-signature-required`.
 *
 * @param current the policy whose quorum decides: the one in force, or for a renewal the one before
 * the version that it renews
 */
export function decideChange(
  change: PolicyChange,
  event: PolicyChangeEvent,
  { current, nowMs }: { readonly current: Policy; readonly nowMs: number },
): Result<PolicyChange, Refusal> {
  const ended = (state: PolicyChangeState): PolicyChange => ({ ...change, state, updatedAtMs: nowMs });
  if (change.state !== 'PENDING') {
    const settled = 'actor' in event ? isRepeated(change, event) : true;
    return settled ? accepted(change) : refused({ code: 'policy-change-not-pending', state: change.state });
  }
  switch (event.type) {
    case 'expire':
      return accepted(nowMs < decisionEndOf(change) ? change : ended('EXPIRED'));
    case 'supersede':
      return accepted(ended('SUPERSEDED'));
    case 'cancel':
      return accepted(ended('CANCELLED'));
    case 'reject':
      return accepted({ ...ended('REJECTED'), rejection: approvalOf(change, { ...event, device: null }, nowMs) });
    case 'approve': {
      if (nowMs >= decisionEndOf(change)) return refused({ code: 'policy-change-not-pending', state: 'EXPIRED' });
      if (lacksDeviceSignature(event, current)) return refused({ code: 'device-signature-required' });
      // A signer whose first approval came from another device can still give the required one.
      const completes =
        !hasRequiredDevice(change.digest, change.approvals, current) &&
        isRequiredDevice(event.device?.keyId ?? null, current);
      if (isRepeated(change, event) && !completes) return accepted(change);
      const approvals = [...change.approvals, approvalOf(change, event, nowMs)];
      const enough =
        countedApprovers(change.digest, approvals, current).size >= change.requiredApprovals &&
        hasRequiredDevice(change.digest, approvals, current);
      return accepted({ ...change, approvals, updatedAtMs: nowMs, state: enough ? 'ADOPTED' : 'PENDING' });
    }
  }
}

/** Reports whether a change renews the mandate of a policy that was adopted before. */
export function isRenewal({ renewsVersion }: Pick<PolicyChange, 'renewsVersion'>): boolean {
  return renewsVersion !== undefined;
}

/**
 * Reports whether a member's approval of a change counts. Co-signers judge a renewal by the policy
 * before that version, so its signers approve it, also those that no longer sign, and nobody else.
 *
 * @param decider the policy whose quorum decides
 */
export function mayApprove(member: Member, change: Pick<PolicyChange, 'renewsVersion'>, decider: Policy): boolean {
  return isRenewal(change) ? decider.signers.includes(member.userId) : hasPermission(member, 'decide');
}

/** When signers can no longer decide over a change. */
export function decisionEndOf({ decisionEndsAtMs, expiresAtMs }: PolicyChange): number {
  return decisionEndsAtMs ?? expiresAtMs;
}

function approvalOf(
  { digest }: PolicyChange,
  { actor, device }: Pick<Approval, 'actor' | 'device'>,
  nowMs: number,
): Approval {
  return { actor, digest, device, atMs: nowMs };
}

/** Whether this person has said just this before. An approval that something else has ended is not repeated but too late. */
function isRepeated(change: PolicyChange, event: { readonly type: string; readonly actor: Actor }): boolean {
  const { userId } = event.actor;
  if (event.type === 'cancel') return change.state === 'CANCELLED';
  if (event.type === 'reject') return change.rejection?.actor.userId === userId;
  const stands = change.state === 'PENDING' || change.state === 'ADOPTED';
  return stands && change.approvals.some((approval) => approval.actor.userId === userId);
}
