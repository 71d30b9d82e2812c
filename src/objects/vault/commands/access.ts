import type { Actor } from '#domain/access/approval.ts';
import type { AccessAct, MemberAccessAct } from '#domain/access/disabled-access.ts';
import type { InvitationAnswer } from '#domain/access/invitation.ts';
import type { Member, Permission } from '#domain/access/member.ts';
import type { UserId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import { withAccessAct, withMemberAccess } from '#domain/vault/member-access.ts';
import { authorize, withAnswer } from '#domain/vault/membership.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { dropStaleApprovals } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { dropDisabledDecisions } from '#objects/vault/writes/policy-change-writes.ts';
import { updateVault } from '#objects/vault/writes/update-vault.ts';

/** The members of a vault, its open invitations, and the access that it refuses. */
export type MemberAccess = Pick<Vault, 'members' | 'invitations' | 'disabledAccess'> & { readonly viewer: Member };

/** Returns the members and the refused access. Refuses `forbidden` without the permission. */
export function memberAccess(
  context: VaultContext,
  actor: Actor,
  { permission }: { readonly permission: Permission },
): Result<MemberAccess, Refusal> {
  const entered = authorize(context.vault(), actor, permission);
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const { members, invitations, disabledAccess } = vault;
  return accepted({ members, invitations, disabledAccess, viewer });
}

/**
 * Records the answer of an invited member. Idempotent. Refuses what `withAnswer` refuses.
 */
export async function answerInvitation(
  context: VaultContext,
  actor: Actor,
  { answer }: { readonly answer: InvitationAnswer },
): Promise<Result<null, Refusal>> {
  const before = context.vault();
  const answered = withAnswer(before, actor, answer);
  if (!answered.ok) return answered;
  if (answered.value !== before) {
    const roles = answered.value.members.find(({ userId }) => userId === actor.userId)?.roles;
    await updateVault(context, answered.value, { action: `${answer}-vault`, detail: JSON.stringify({ roles }), actor });
  }
  return accepted(null);
}

/**
 * Carries out an act of an admin on the access of a member in this vault. Idempotent. Refuses what
 * `withMemberAccess` refuses.
 *
 * @param userId null for a malformed id
 */
export async function actOnMember(
  context: VaultContext,
  actor: Actor,
  { userId, act }: { readonly userId: UserId | null; readonly act: MemberAccessAct },
): Promise<Result<MemberAccess, Refusal>> {
  const before = context.vault();
  const changed = withMemberAccess(before, { actor, userId, nowMs: Date.now() }, act);
  if (!changed.ok) return changed;
  const detail = { userId, ...(act.kind === 'end-member-credential' ? { tokenId: act.tokenId } : {}) };
  if (changed.value !== before) await writeAccess(context, changed.value, { action: act.kind, detail, actor });
  return memberAccess(context, actor, { permission: 'administer' });
}

/**
 * Records acts of operators on the access of a member. A known act changes nothing. Reports whether
 * the vault records the acts on this user: false when the user is no member.
 */
export async function recordAccessActs(
  context: VaultContext,
  { userId, acts }: { readonly userId: UserId; readonly acts: readonly AccessAct[] },
): Promise<boolean> {
  for (const act of acts) {
    const vault = context.vault();
    if (vault === null) return false;
    const isMember = vault.members.some((member) => member.userId === userId);
    // A member who has left can still be disabled here.
    if (!isMember && !(userId in vault.accessVersions)) return false;
    const { kind, version: _version, atMs: _atMs, ...detail } = act;
    const after = withAccessAct(vault, userId, act);
    if (after !== vault) await writeAccess(context, after, { action: kind, detail: { userId, ...detail } });
  }
  return true;
}

/**
 * Writes the vault with a history entry. The decisions of disabled access on everything undecided
 * stop counting in the same commit.
 */
async function writeAccess(
  context: VaultContext,
  after: Vault,
  { detail, ...line }: { readonly action: string; readonly detail: object; readonly actor?: Actor },
): Promise<void> {
  const also = () => {
    dropStaleApprovals(context, after);
    dropDisabledDecisions(context.storage, after);
  };
  await updateVault(context, after, { ...line, detail: JSON.stringify(detail), also });
}
