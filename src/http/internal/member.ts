import * as z from 'zod';
import { parseUserId } from '#domain/id.ts';
import type { Role } from '#domain/access/member.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { noSuchVault, rolesBody, vaultOfPath, vaultRecord, vaultSchema } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import { findUser } from '#store/users.ts';

const memberBody = z.strictObject({ roles: rolesBody });

/**
 * PUT /internal/vault/{vaultId}/member/{userId}: sets the roles of a member, in place of the
 * previous ones. The signers stay the same, because the policy determines them.
 *
 * Refuses, in order: the service key, the body, `user-not-found`, `vault-not-found`,
 * `needs-quorum`.
 */
export const putMember = route({
  method: 'PUT',
  path: '/internal/vault/:vaultId/member/:userId',
  access: 'service',
  summary: 'Set the roles of a member',
  body: memberBody,
  answer: { status: 200, schema: vaultSchema },
  refuses: ['user-not-found', 'vault-not-found', 'needs-quorum'],
  handle: async (context) => {
    const { roles } = memberBody.parse(await context.req.json());
    return setRoles(context, roles);
  },
});

/**
 * DELETE /internal/vault/{vaultId}/member/{userId}: removes a member who is not a signer.
 *
 * Refuses as PUT does.
 */
export const removeMember = route({
  method: 'DELETE',
  path: '/internal/vault/:vaultId/member/:userId',
  access: 'service',
  summary: 'Remove a member',
  answer: { status: 200, schema: vaultSchema },
  refuses: ['user-not-found', 'vault-not-found', 'needs-quorum'],
  handle: (context) => setRoles(context, []),
});

async function setRoles(context: HttpContext, roles: readonly Role[]): Promise<Response> {
  const userId = parseUserId(context.req.param('userId') ?? '');
  const user = userId === null ? null : await findUser(context.env.DB, userId);
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  const object = vaultOfPath(context);
  const changed =
    object === null
      ? null
      : await callObject(object, (vault) => vault.execute(null, { type: 'putMember', userId: user.id, roles }));
  if (changed === null) return noSuchVault(context);
  if (changed.ok) return context.json(await vaultRecord(context, changed.value));
  const detail = 'The signers decide who signs. Propose the change with POST /internal/vault/{vaultId}/policy-change.';
  return problem(context, changed.refusal, { detail });
}
