import type { Member, Permission, Role } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { UserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';

/**
 * Returns the vault and the member who accesses it. Refuses `forbidden` for callers who are not
 * members and for a vault that does not exist alike.
 */
export function authorize(
  vault: Vault | null,
  actor: Actor,
  permission: Permission,
): Result<{ readonly vault: Vault; readonly viewer: Member }, Refusal> {
  const viewer = vault?.members.find((member) => member.userId === actor.userId) ?? null;
  if (vault === null || viewer === null || !hasPermission(viewer, permission)) return refused({ code: 'forbidden' });
  return accepted({ vault, viewer });
}

/**
 * Returns the vault with this user in these roles. An empty list of roles removes the user. The
 * policy names the signers, and only signers change it: refuses `needs-quorum` when the user would
 * become a signer or stop being one.
 */
export function withMember(vault: Vault, userId: UserId, roles: readonly Role[]): Result<Vault, 'needs-quorum'> {
  if (roles.includes('signer') !== vault.policy.signers.includes(userId)) return refused('needs-quorum');
  const others = vault.members.filter((member) => member.userId !== userId);
  return accepted({ ...vault, members: roles.length === 0 ? others : [...others, { userId, roles }] });
}

/**
 * Returns the vault under another policy: exactly the signers of the policy have the role of
 * signer. A new signer may be new to the vault.
 */
export function withPolicy(vault: Vault, policy: Policy): Vault {
  const signs = (userId: UserId) => policy.signers.includes(userId);
  const remaining = vault.members
    .map(({ userId, roles }): Member => {
      const others = roles.filter((role) => role !== 'signer');
      return { userId, roles: signs(userId) ? [...others, 'signer'] : others };
    })
    .filter(({ roles }) => roles.length > 0);
  const added = policy.signers.filter((userId) => remaining.every((member) => member.userId !== userId));
  return {
    ...vault,
    policy,
    members: [...remaining, ...added.map((userId): Member => ({ userId, roles: ['signer'] }))],
  };
}
