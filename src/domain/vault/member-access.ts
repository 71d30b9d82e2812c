import type { Actor } from '#domain/access/approval.ts';
import type { AccessAct, DisabledAccess, MemberAccessAct } from '#domain/access/disabled-access.ts';
import { afterAct, afterMemberAct, isMemberDisabled } from '#domain/access/disabled-access.ts';
import { isInvited } from '#domain/access/invitation.ts';
import type { UserId } from '#domain/id.ts';
import { thresholdForChange } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import { authorize } from '#domain/vault/membership.ts';
import type { Vault } from '#domain/vault/vault.ts';

/** Ours: members and credentials that one vault refuses. The vault is read as a whole. */
const MAX_DISABLED_ACCESS = 500;

/**
 * Returns the vault after an act of an operator on the access of a user, or the same vault for a
 * known act.
 */
export function withAccessAct(vault: Vault, userId: UserId, act: AccessAct): Vault {
  if (act.version <= (vault.accessVersions[userId] ?? 0)) return vault;
  const disabledAccess = current(afterAct(vault.disabledAccess, userId, act), act.atMs);
  return { ...vault, disabledAccess, accessVersions: { ...vault.accessVersions, [userId]: act.version } };
}

/**
 * Returns the vault after an act of an admin on the access of a member, or the same vault when it
 * changes nothing. An admin does not stop so many signers that the others have no quorum: the
 * others could not remove a hostile admin. An operator can.
 *
 * Refuses, in order: `forbidden`, `member-not-found`, `own-access`, `quorum-disabled`,
 * `too-much-disabled`.
 */
export function withMemberAccess(
  vault: Vault | null,
  { actor, userId, nowMs }: { readonly actor: Actor; readonly userId: UserId | null; readonly nowMs: number },
  act: MemberAccessAct,
): Result<Vault, Refusal> {
  const entered = authorize(vault, actor, 'administer');
  if (!entered.ok) return entered;
  const { vault: before, viewer } = entered.value;
  const member = before.members.find((one) => one.userId === userId);
  if (member === undefined) return refused({ code: 'member-not-found' });
  if (member.userId === viewer.userId) return refused({ code: 'own-access' });
  const by = { userId: member.userId, disabledBy: viewer.userId, nowMs };
  const changed = afterMemberAct(before.disabledAccess, by, act);
  if (changed.length === before.disabledAccess.length) return accepted(before);
  const disabledAccess = current(changed, nowMs);
  if (act.kind === 'disable-member' && lacksQuorum(before, disabledAccess)) return refused({ code: 'quorum-disabled' });
  if (disabledAccess.length > MAX_DISABLED_ACCESS)
    return refused({ code: 'too-much-disabled', limit: MAX_DISABLED_ACCESS });
  return accepted({ ...before, disabledAccess });
}

function lacksQuorum({ policy, invitations }: Vault, disabledAccess: readonly DisabledAccess[]): boolean {
  const active = policy.signers.filter(
    (userId) => !isMemberDisabled(disabledAccess, userId) && !isInvited(invitations, userId),
  );
  return active.length < thresholdForChange(policy);
}

/** Leaves out credentials that are over by themselves. */
function current(disabledAccess: readonly DisabledAccess[], nowMs: number): readonly DisabledAccess[] {
  return disabledAccess.filter(({ untilMs }) => untilMs === null || nowMs < untilMs);
}
