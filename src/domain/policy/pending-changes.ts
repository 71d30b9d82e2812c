import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { isRenewal } from '#domain/policy/policy-change.ts';
import type { PolicyRefusal } from '#domain/policy/refusal.ts';

/**
 * Every signer must read all of them, and the first adopted one ends the others. Renewals have ten
 * slots of their own.
 */
export const MAX_PENDING_CHANGES = 10;

/**
 * Ours: one person must not fill the slots of the vault. Two are enough for a change and its
 * correction.
 */
export const MAX_OWN_PENDING_CHANGES = 2;

/**
 * Ours: the holder of a stolen service key must not fill the slots of the signers, who need one for
 * a change that protects the vault.
 */
export const MAX_OPERATOR_PENDING_CHANGES = 2;

type Pending = Pick<PolicyChange, 'policy' | 'createdBy' | 'renewsVersion'>;

/**
 * Returns why there is no slot for another pending change, or null. A vault has ten slots for
 * changes of its members, two for those of operators, and ten for renewals. One person holds two of
 * all these slots. A change that needs no slot (`needsSlot`) is always accepted.
 *
 * Refuses, in order: `too-many-policy-changes`, `too-many-own-policy-changes`.
 *
 * @param pending the pending changes, the oldest first
 * @param inForce the policy in force
 */
export function slotRefusal(pending: readonly Pending[], candidate: Pending, inForce: Policy): PolicyRefusal | null {
  const all = [...pending, candidate];
  const counted = all.filter((change, i) => needsSlot(change, all.slice(0, i), inForce));
  if (!counted.includes(candidate)) return null;
  const kind = kindOf(candidate);
  const limit = kind === 'operator' ? MAX_OPERATOR_PENDING_CHANGES : MAX_PENDING_CHANGES;
  const sameKind = counted.filter((change) => kindOf(change) === kind);
  if (sameKind.length > limit) return { code: 'too-many-policy-changes', limit };
  const own = counted.filter((change) => creatorOf(change) === creatorOf(candidate));
  return creatorOf(candidate) !== null && own.length > MAX_OWN_PENDING_CHANGES
    ? { code: 'too-many-own-policy-changes', limit: MAX_OWN_PENDING_CHANGES }
    : null;
}

/**
 * Reports whether a pending change needs a slot. It needs none when it is the first one of its
 * creator that removes a certain signer. So a full queue never delays a removal. The rule is also
 * bounded: each of these changes removes one more signer, so a creator has at most as many of them
 * as the vault has signers. They do not reduce the slots of others.
 *
 * @param earlier the pending changes before it
 */
function needsSlot(change: Pending, earlier: readonly Pending[], { signers }: Policy): boolean {
  if (isRenewal(change)) return true;
  const own = earlier.filter((other) => !isRenewal(other) && creatorOf(other) === creatorOf(change));
  return signers.every(
    (userId) => change.policy.signers.includes(userId) || own.some(({ policy }) => !policy.signers.includes(userId)),
  );
}

function kindOf(change: Pending): 'renewal' | 'operator' | 'member' {
  if (isRenewal(change)) return 'renewal';
  return creatorOf(change) === null ? 'operator' : 'member';
}

function creatorOf({ createdBy }: Pending): string | null {
  return createdBy?.userId ?? null;
}
