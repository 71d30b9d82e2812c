import type { Member } from '#domain/access/member.ts';
import type { UserId } from '#domain/id.ts';

/**
 * The invitation of a member to a vault. A service key alone creates a vault and adds members to
 * it. So a member joins by accepting: otherwise the holder of a stolen key could set a vault of the
 * same name, with an own address, among the vaults of its members.
 */
export interface Invitation {
  readonly userId: UserId;
  /** A declined invitation can still be accepted. */
  readonly isDeclined: boolean;
}

/** What an invited member can answer. */
export type InvitationAnswer = 'accept' | 'decline';

/** Reports whether a member has not accepted the vault. */
export function isInvited(invitations: readonly Invitation[], userId: UserId): boolean {
  return invitations.some((invitation) => invitation.userId === userId);
}

/**
 * Returns the invitations of a vault after its members have changed. Every new member is invited,
 * and the invitation of a removed one ends.
 */
export function invitationsAfter(
  before: { readonly members: readonly Member[]; readonly invitations: readonly Invitation[] },
  members: readonly Member[],
): readonly Invitation[] {
  const isIn = (list: readonly { readonly userId: UserId }[], id: UserId) => list.some(({ userId }) => userId === id);
  const remaining = before.invitations.filter(({ userId }) => isIn(members, userId));
  const joining = members.filter(({ userId }) => !isIn(before.members, userId));
  return [...remaining, ...joining.map(({ userId }) => ({ userId, isDeclined: false }))];
}
