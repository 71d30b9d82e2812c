import * as z from 'zod';
import type { MemberAccessAct } from '#domain/access/disabled-access.ts';
import { isDisabled, isMemberDisabled } from '#domain/access/disabled-access.ts';
import { isInvited } from '#domain/access/invitation.ts';
import type { TokenId, VaultId } from '#domain/id.ts';
import { parseTokenId, parseUserId } from '#domain/id.ts';
import { ROLES } from '#domain/access/member.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import type { Credential } from '#http/session/credentials.ts';
import { credentialOf, credentialSchema, credentialsOf } from '#http/session/credentials.ts';
import type { MemberAccess } from '#objects/vault/commands/access.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { membersOf } from '#store/vaults.ts';

/**
 * The members of a vault, and what an admin does when one of them must be stopped. These commands
 * only take access to this vault, and give back what an admin took, so they need no quorum.
 */

const memberSchema = z
  .strictObject({
    userId: z.string(),
    name: z.string().nullable().meta({ description: 'Null for a moment after a new member was added' }),
    roles: z.array(z.enum(ROLES)),
    accepted: z.boolean().meta({ description: 'False until the member accepts the vault' }),
    disabled: z.boolean().meta({ description: 'True while the vault refuses every credential of the member' }),
    disabledBy: z
      .enum(['operator', 'admin'])
      .nullable()
      .meta({ description: 'Who can enable the member again; null: enabled' }),
  })
  .meta({ id: 'Member' });

const memberListSchema = z
  .strictObject({ data: z.array(memberSchema), nextCursor: z.null().meta({ description: 'At most 200 members' }) })
  .meta({ id: 'MemberList' });

const memberCredentialListSchema = z
  .strictObject({
    disabled: z.boolean(),
    data: z.array(credentialSchema),
    nextCursor: z.null().meta({ description: 'A member has at most 50 tokens and 50 sessions' }),
  })
  .meta({ id: 'MemberCredentialList' });

const memberAccessSchema = z.strictObject({ userId: z.string(), disabled: z.boolean() }).meta({ id: 'MemberAccess' });

type MemberInput = Input<{ params: 'vaultId' | 'userId' }>;

/** GET /vault/{vaultId}/member: returns the members of a vault with their roles. */
export const listMembers = route({
  method: 'GET',
  path: '/vault/:vaultId/member',
  access: 'read',
  summary: 'List the members of a vault',
  answer: { status: 200, schema: memberListSchema },
  refuses: ['forbidden'],
  handle: async (context: HttpContext, { params: { vaultId } }: Input<{ params: 'vaultId' }>) => {
    const read = await accessIn(context, vaultId, 'view');
    if (!read.ok) return refusalProblem(context, read.refusal);
    const { members, invitations, disabledAccess } = read.value;
    const listed = await membersOf(context.env.DB, [vaultId]);
    const names = new Map(listed.map(({ userId, name }) => [userId, name]));
    const data = members.map(({ userId, roles }) => {
      const disabling = disabledAccess.filter((one) => one.userId === userId && one.tokenId === null);
      // An admin cannot end what an operator did.
      const by = disabling.some((one) => one.disabledBy === null) ? 'operator' : 'admin';
      const disabledBy = disabling.length === 0 ? null : by;
      return {
        userId,
        name: names.get(userId) ?? null,
        roles: [...roles],
        accepted: !isInvited(invitations, userId),
        disabled: disabledBy !== null,
        disabledBy,
      };
    });
    return context.json({ data, nextCursor: null });
  },
});

/**
 * GET /vault/{vaultId}/member/{userId}/credential: returns the tokens and open sessions of a member
 * that reach the vault, to an admin.
 */
export const listMemberCredentials = route({
  method: 'GET',
  path: '/vault/:vaultId/member/:userId/credential',
  access: 'read',
  summary: 'List the tokens and sessions of a member, newest first',
  answer: { status: 200, schema: memberCredentialListSchema },
  refuses: ['forbidden', 'member-not-found'],
  handle: async (context: HttpContext, { params: { vaultId, userId: text } }: MemberInput) => {
    const read = await accessIn(context, vaultId, 'administer');
    if (!read.ok) return refusalProblem(context, read.refusal);
    const { members, disabledAccess } = read.value;
    const member = members.find(({ userId }) => userId === text);
    if (member === undefined) return refusalProblem(context, { code: 'member-not-found' });
    const { userId } = member;
    const reaching = await credentialsOf(context, userId, vaultId);
    const data = reaching.map((one) => {
      const tokenId = parseTokenId(one.id);
      const isRefused = tokenId === null || isDisabled(disabledAccess, { userId, tokenId });
      return { ...one, enabled: one.enabled && !isRefused };
    });
    return context.json({ disabled: isMemberDisabled(disabledAccess, userId), data, nextCursor: null });
  },
});

/**
 * POST /vault/{vaultId}/member/{userId}/disable: stops a member in this vault. When the response
 * arrives, the vault refuses every credential of the member, and the approvals of the member on
 * what is undecided no longer count. An admin cannot stop so many signers that the others have no
 * quorum. A repeated request changes nothing.
 */
export const disableMember = route({
  method: 'POST',
  path: '/vault/:vaultId/member/:userId/disable',
  access: 'write',
  scope: 'approve',
  summary: 'Disable a member in this vault',
  answer: { status: 200, schema: memberAccessSchema },
  refuses: ['forbidden', 'member-not-found', 'own-access', 'quorum-disabled', 'too-much-disabled'],
  handle: (context: HttpContext, { params }: MemberInput) => acted(context, params, { kind: 'disable-member' }),
});

/**
 * POST /vault/{vaultId}/member/{userId}/enable: ends the disabling of a member by an admin.
 * Approvals do not come back. A member whom an operator has disabled stays disabled, as the
 * response shows. A repeated request changes nothing.
 */
export const enableMember = route({
  method: 'POST',
  path: '/vault/:vaultId/member/:userId/enable',
  access: 'write',
  scope: 'approve',
  summary: 'Enable a disabled member in this vault',
  answer: { status: 200, schema: memberAccessSchema },
  refuses: ['forbidden', 'member-not-found', 'own-access'],
  handle: (context: HttpContext, { params }: MemberInput) => acted(context, params, { kind: 'enable-member' }),
});

/**
 * DELETE /vault/{vaultId}/member/{userId}/credential/{id}: ends a token or a session of a member in
 * this vault, permanently. The approvals that it carried without a device signature stop counting
 * on what is undecided. The credential stays valid in other vaults.
 */
export const endMemberCredential = route({
  method: 'DELETE',
  path: '/vault/:vaultId/member/:userId/credential/:id',
  access: 'write',
  scope: 'approve',
  summary: 'End a token or a session of a member in this vault',
  answer: { status: 200, schema: memberAccessSchema },
  refuses: ['forbidden', 'member-not-found', 'own-access', 'credential-not-found', 'too-much-disabled'],
  handle: async (context: HttpContext, { params }: Input<{ params: 'vaultId' | 'userId' | 'id' }>) => {
    const { vaultId, userId: text, id } = params;
    const read = await accessIn(context, vaultId, 'administer');
    if (!read.ok) return refusalProblem(context, read.refusal);
    const member = read.value.members.find(({ userId }) => userId === text);
    if (member === undefined) return refusalProblem(context, { code: 'member-not-found' });
    if (member.userId === read.value.viewer.userId) return refusalProblem(context, { code: 'own-access' });
    const known = await credentialOf(context, { userId: member.userId, id }, vaultId);
    if (known === null) return refusalProblem(context, { code: 'credential-not-found' });
    return acted(context, params, endOf(id, known));
  },
});

/** A session ends at a time that nothing changes. The owner of a token can extend its life. */
function endOf(tokenId: TokenId, { kind, endsAt }: Credential): MemberAccessAct {
  const untilMs = kind === 'session' && endsAt !== null ? Date.parse(endsAt) : null;
  return { kind: 'end-member-credential', tokenId, untilMs };
}

function accessIn(context: HttpContext, vaultId: VaultId, permission: 'view' | 'administer') {
  const actor = actorOf(context);
  return callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'memberAccess', permission }),
  );
}

async function acted(
  context: HttpContext,
  { vaultId, userId: text }: MemberInput['params'],
  act: MemberAccessAct,
): Promise<Response> {
  const [actor, userId] = [actorOf(context), parseUserId(text)];
  const done = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'actOnMember', userId, act }),
  );
  return done.ok ? context.json(accessOf(done.value, text)) : refusalProblem(context, done.refusal);
}

function accessOf({ disabledAccess }: MemberAccess, text: string): z.infer<typeof memberAccessSchema> {
  const userId = parseUserId(text);
  return { userId: text, disabled: userId !== null && isMemberDisabled(disabledAccess, userId) };
}
