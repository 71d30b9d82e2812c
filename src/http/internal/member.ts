import * as z from 'zod';
import { parseUserId } from '#domain/id.ts';
import type { Role } from '#domain/member.ts';
import type { HttpContext, Route } from '#http/context.ts';
import { noSuchVault, policyProblem, rolesBody, vaultOfPath, vaultRecord, vaultSchema } from '#http/internal/vault.ts';
import { askObject } from '#http/object-call.ts';
import { problem } from '#http/problem.ts';
import { findUser } from '#store/users.ts';

const memberBody = z.strictObject({ roles: rolesBody });

/** PUT /internal/vault/{vaultId}/member/{userId} (ours): gives a person these roles, in place of any before. */
export const putMember: Route = {
  method: 'PUT',
  path: '/internal/vault/:vaultId/member/:userId',
  access: 'service',
  summary: 'gives a person roles',
  body: memberBody,
  answer: { status: 200, schema: vaultSchema },
  refuses: ['user-not-found', 'vault-not-found'],
  handle: async (context) => {
    const { roles } = memberBody.parse(await context.req.json());
    return setRoles(context, roles);
  },
};

/** DELETE /internal/vault/{vaultId}/member/{userId} (ours): the person's votes on pending transactions go with it. */
export const removeMember: Route = {
  method: 'DELETE',
  path: '/internal/vault/:vaultId/member/:userId',
  access: 'service',
  summary: 'puts a person out of a vault',
  answer: { status: 200, schema: vaultSchema },
  refuses: ['user-not-found', 'vault-not-found'],
  handle: (context) => setRoles(context, []),
};

async function setRoles(context: HttpContext, roles: readonly Role[]): Promise<Response> {
  const userId = parseUserId(context.req.param('userId') ?? '');
  const user = userId === null ? null : await findUser(context.env.DB, userId);
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  const object = vaultOfPath(context);
  const changed = object === null ? null : await askObject(object, (vault) => vault.putMember(user.id, roles));
  if (changed === null) return noSuchVault(context);
  return changed.ok ? context.json(vaultRecord(changed.value)) : policyProblem(context, changed.refusal);
}
