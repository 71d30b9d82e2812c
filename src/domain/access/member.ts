import type { UserId } from '#domain/id.ts';

/**
 * What a member may do in one vault. A member holds a set of roles: an admin is not automatically a
 * signer.
 */
export const ROLES = ['viewer', 'initiator', 'signer', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface Member {
  readonly userId: UserId;
  readonly roles: readonly Role[];
}

export type Permission = 'view' | 'create' | 'curate' | 'decide' | 'propose' | 'administer';

/** Ours: the spec names signers and 'authenticated callers' only. */
const ALLOWED: Record<Permission, readonly Role[]> = {
  view: ['viewer', 'initiator', 'signer', 'admin'],
  create: ['initiator', 'signer'],
  /** Shows and hides activities. A viewer changes nothing. */
  curate: ['initiator', 'signer', 'admin'],
  decide: ['signer'],
  /** Proposes a policy change. An admin may propose one, and only signers decide. */
  propose: ['signer', 'admin'],
  administer: ['admin'],
};

/**
 * Reports whether a member has a permission. A caller who is not a member has none, exactly as in a
 * vault that does not exist.
 */
export function hasPermission(member: Pick<Member, 'roles'> | null, permission: Permission): boolean {
  return member !== null && member.roles.some((role) => ALLOWED[permission].includes(role));
}

/**
 * Reports whether a member may cancel a request. Its requester may cancel it while the requester
 * still has the permission to make such a request. An admin may cancel any.
 */
export function mayCancel(
  member: Member,
  requestedBy: UserId | null,
  permission: 'create' | 'propose' = 'create',
): boolean {
  return hasPermission(member, 'administer') || (member.userId === requestedBy && hasPermission(member, permission));
}
