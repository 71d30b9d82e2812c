import type { UserId } from '#domain/id.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isReplaceable } from '#domain/transaction/transaction.ts';

/** What a person may do in one vault. A person holds a set of roles: an admin is not by that a signer. */
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
  /** Shows and hides; a viewer changes nothing. */
  curate: ['initiator', 'signer', 'admin'],
  decide: ['signer'],
  /** Of a change of the policy: an admin may want it, and only signers decide. */
  propose: ['signer', 'admin'],
  administer: ['admin'],
};

/** A caller who is no member has no permission, exactly as in a vault that does not exist. */
export function hasPermission(member: Member | null, permission: Permission): boolean {
  return member !== null && member.roles.some((role) => ALLOWED[permission].includes(role));
}

/** Whoever wanted something takes it back as long as that person may want such a thing; an admin takes back any. */
export function mayCancel(
  member: Member,
  requestedBy: UserId | null,
  permission: 'create' | 'propose' = 'create',
): boolean {
  return hasPermission(member, 'administer') || (member.userId === requestedBy && hasPermission(member, permission));
}

/** Who takes a transaction back: as above; and any signer stops what waits to be mined. */
export function mayCancelTransaction(
  member: Member,
  transaction: Pick<Transaction, 'state' | 'inclusion' | 'createdBy'>,
): boolean {
  const isOnItsWay = isReplaceable(transaction) && hasPermission(member, 'decide');
  return isOnItsWay || mayCancel(member, transaction.createdBy.userId);
}
