import { isDisabled } from '#domain/access/disabled-access.ts';
import type { InvitationAnswer } from '#domain/access/invitation.ts';
import { invitationsAfter, isInvited } from '#domain/access/invitation.ts';
import type { Member, Permission, Role } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { UserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';

/** A vault and the member who accesses it. */
export interface Entrance {
  readonly vault: Vault;
  readonly viewer: Member;
}

/**
 * Returns the vault and the member who accesses it, who may not have accepted it. Refuses
 * `forbidden` for callers who are not members, for disabled access and for a vault that does not
 * exist alike.
 */
export function enter(vault: Vault | null, actor: Actor): Result<Entrance, Refusal> {
  const viewer = vault?.members.find((member) => member.userId === actor.userId) ?? null;
  if (vault === null || viewer === null) return refused({ code: 'forbidden' });
  return isDisabled(vault.disabledAccess, actor) ? refused({ code: 'forbidden' }) : accepted({ vault, viewer });
}

/**
 * Returns the vault and the member who accesses it with this permission. Refuses, in order:
 * `forbidden` as in `enter`, `vault-not-accepted`, and `forbidden` without the permission.
 */
export function authorize(vault: Vault | null, actor: Actor, permission: Permission): Result<Entrance, Refusal> {
  const entered = enter(vault, actor);
  if (!entered.ok) return entered;
  if (isInvited(entered.value.vault.invitations, actor.userId)) return refused({ code: 'vault-not-accepted' });
  return hasPermission(entered.value.viewer, permission) ? entered : refused({ code: 'forbidden' });
}

/**
 * Returns the vault after the answer of an invited member. A repeated answer changes nothing.
 * Refuses, in order: `forbidden` as in `enter`, and for declining an accepted vault
 * `vault-accepted`.
 */
export function withAnswer(vault: Vault | null, actor: Actor, answer: InvitationAnswer): Result<Vault, Refusal> {
  const entered = enter(vault, actor);
  if (!entered.ok) return entered;
  const { vault: before } = entered.value;
  const own = before.invitations.find(({ userId }) => userId === actor.userId);
  if (own === undefined) return answer === 'accept' ? accepted(before) : refused({ code: 'vault-accepted' });
  if (answer === 'decline' && own.isDeclined) return accepted(before);
  const others = before.invitations.filter((invitation) => invitation !== own);
  return accepted({ ...before, invitations: answer === 'accept' ? others : [...others, { ...own, isDeclined: true }] });
}

/**
 * Ours: the members of a vault. A list of them is one page, and the holder of a stolen service key
 * can add any number.
 */
export const MAX_MEMBERS = 200;

/** Why an operator does not set the roles of a member. */
export type MemberRefusal = 'needs-quorum' | 'too-many-members';

/**
 * Returns the vault with this user in these roles, and the same vault when nothing changes. An
 * empty list of roles removes the user. The policy names the signers and the excluded users, and
 * only signers change it. Refuses, in order: `needs-quorum` when the user would become a signer or
 * stop being one, or is excluded; `too-many-members`.
 */
export function withMember(vault: Vault, userId: UserId, roles: readonly Role[]): Result<Vault, MemberRefusal> {
  if (roles.includes('signer') !== vault.policy.signers.includes(userId)) return refused('needs-quorum');
  if (roles.length > 0 && excludes(vault.policy, userId)) return refused('needs-quorum');
  const before = vault.members.find((member) => member.userId === userId)?.roles ?? [];
  const isSame = before.every((role) => roles.includes(role)) && roles.every((role) => before.includes(role));
  if (isSame) return accepted(vault);
  const others = vault.members.filter((member) => member.userId !== userId);
  if (roles.length > 0 && others.length >= MAX_MEMBERS) return refused('too-many-members');
  const members = roles.length === 0 ? others : [...others, { userId, roles }];
  return accepted({ ...vault, members, invitations: invitationsAfter(vault, members) });
}

/**
 * Returns the vault under another policy: exactly the signers of the policy have the role of
 * signer. A new signer may be new to the vault. An excluded user is no member any more.
 */
export function withPolicy(vault: Vault, policy: Policy): Vault {
  const signs = (userId: UserId) => policy.signers.includes(userId);
  const remaining = vault.members
    .map(({ userId, roles }): Member => {
      const others = roles.filter((role) => role !== 'signer');
      return { userId, roles: signs(userId) ? [...others, 'signer'] : others };
    })
    .filter(({ userId, roles }) => roles.length > 0 && !excludes(policy, userId));
  const added = policy.signers.filter((userId) => remaining.every((member) => member.userId !== userId));
  const members = [...remaining, ...added.map((userId): Member => ({ userId, roles: ['signer'] }))];
  return { ...vault, policy, members, invitations: invitationsAfter(vault, members) };
}

function excludes({ rules: { excludedMembers = [] } }: Policy, userId: UserId): boolean {
  return excludedMembers.includes(userId);
}

/**
 * Returns the members who have accepted the vault. An invited one is notified of nothing but the
 * invitation.
 */
export function joinedMembers({ members, invitations }: Vault): readonly UserId[] {
  return members.map(({ userId }) => userId).filter((userId) => !isInvited(invitations, userId));
}
