import type { HttpContext } from '#http/context.ts';
import { actorOf, route } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { answerChange, changeOf } from '#http/vault/policy-change/answer.ts';
import { policyChangeSchema } from '#http/vault/policy-change/record.ts';
import { vaultStub } from '#objects/vault-stub.ts';

/**
 * GET /vault/{vaultId}/policy-change/{changeId} (ours).
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `policy-change-not-found`.
 */
export const readPolicyChange = route({
  method: 'GET',
  path: '/vault/:vaultId/policy-change/:changeId',
  access: 'read',
  summary: 'one change of the policy, with its votes',
  answer: { status: 200, schema: policyChangeSchema },
  refuses: ['forbidden', 'policy-change-not-found'],
  handle: read,
});

async function read(context: HttpContext): Promise<Response> {
  const named = changeOf(context);
  if (named instanceof Response) return named;
  const actor = actorOf(context);
  const found = await askObject(
    () => vaultStub(context.env, named.vaultId),
    (vault) => vault.policyChange(actor, named.changeId),
  );
  return answerChange(context, found, 200);
}
