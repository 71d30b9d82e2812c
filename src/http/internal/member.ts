import * as z from 'zod';
import { parseUserId } from '#domain/id.ts';
import type { Role } from '#domain/access/member.ts';
import type { MemberRefusal } from '#domain/vault/membership.ts';
import { MAX_MEMBERS } from '#domain/vault/membership.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { noSuchVault, rolesBody, vaultOf, vaultRecord, vaultSchema } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import { findUser } from '#store/users.ts';

const memberBody = z.strictObject({ roles: rolesBody });

/** The parameters in the path of a member. */
type MemberPath = 'vaultId' | 'userId';

/**
 * PUT /internal/vault/{vaultId}/member/{userId}: sets the roles of a member, in place of the
 * previous ones. The signers stay the same, because the policy determines them.
 */
export const putMember = route({
  method: 'PUT',
  path: '/internal/vault/:vaultId/member/:userId',
  access: 'service',
  scope: 'vaults',
  summary: 'Set the roles of a member',
  body: memberBody,
  answer: { status: 200, schema: vaultSchema },
  refuses: ['user-not-found', 'vault-not-found', 'needs-quorum', 'too-many-members'],
  handle: (context: HttpContext, { params, body }: OperatorInput<{ params: MemberPath; body: typeof memberBody }>) =>
    setRoles(context, params, body.roles),
});

/** DELETE /internal/vault/{vaultId}/member/{userId}: removes a member who is not a signer. */
export const removeMember = route({
  method: 'DELETE',
  path: '/internal/vault/:vaultId/member/:userId',
  access: 'service',
  scope: 'vaults',
  summary: 'Remove a member',
  answer: { status: 200, schema: vaultSchema },
  refuses: ['user-not-found', 'vault-not-found', 'needs-quorum'],
  handle: (context: HttpContext, { params }: OperatorInput<{ params: MemberPath }>) => setRoles(context, params, []),
});

const DETAILS: Readonly<Record<MemberRefusal, string>> = {
  'needs-quorum': 'The signers decide who signs. Propose the change with POST /internal/vault/{vaultId}/policy-change.',
  'too-many-members': `A vault must have at most ${MAX_MEMBERS} members. Remove one first.`,
};

async function setRoles(
  context: HttpContext,
  { vaultId, userId: text }: OperatorInput<{ params: MemberPath }>['params'],
  roles: readonly Role[],
): Promise<Response> {
  const userId = parseUserId(text);
  const user = userId === null ? null : await findUser(context.env.DB, userId);
  if (user === null) return problem(context, 'user-not-found');
  const object = vaultOf(context, vaultId);
  const changed =
    object === null
      ? null
      : await callObject(object, (vault) =>
          vault.execute(operatorOf(context), { type: 'putMember', userId: user.id, roles }),
        );
  if (changed === null) return noSuchVault(context);
  if (changed.ok) return context.json(await vaultRecord(context, changed.value));
  return problem(context, changed.refusal, { detail: DETAILS[changed.refusal] });
}
