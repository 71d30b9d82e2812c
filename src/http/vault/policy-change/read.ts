import { chainsFrom } from '#chains/families/registry.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { policyChangeRecord, policyChangeSchema } from '#http/encode/policy-change.ts';
import { policyRecord, policySchema } from '#http/encode/policy.ts';
import { nonceQuery, statementFields, statementRecord } from '#http/encode/statement.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const changeInFullSchema = policyChangeSchema
  .extend({
    policyInForce: policySchema.meta({
      description: 'The policy in force, which the change follows if it is the next version',
    }),
    decidedBy: policySchema.meta({
      description:
        'The policy whose signers and devices count: the policy in force, or for a renewal the policy before the ' +
        'renewed version',
    }),
    ...statementFields,
  })
  .meta({ id: 'PolicyChangeInFull' });

/**
 * GET /vault/{vaultId}/policy-change/{changeId}: returns the policy change, the policy in force
 * and, with a nonce, the statements of the co-signers for every key of the vault.
 */
export const readPolicyChange = route({
  method: 'GET',
  path: '/vault/:vaultId/policy-change/:changeId',
  access: 'read',
  byDevice: true,
  summary: 'Read a policy change with its approvals',
  query: nonceQuery,
  answer: { status: 200, schema: changeInFullSchema },
  refuses: ['forbidden', 'policy-change-not-found'],
  handle: read,
});

async function read(
  context: HttpContext,
  { params: { vaultId, changeId }, query }: Input<{ params: 'vaultId' | 'changeId'; query: typeof nonceQuery }>,
): Promise<Response> {
  const actor = actorOf(context);
  const found = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'readPolicyChange', id: changeId }),
  );
  if (!found.ok) return refusalProblem(context, found.refusal);
  const { policy, decider, keys } = found.value;
  const [chains, statements] = [chainsFrom(context.env), await statementRecord(context, keys, query)];
  const record = policyChangeRecord(found.value, chains);
  const policies = { policyInForce: policyRecord(policy, chains), decidedBy: policyRecord(decider, chains) };
  return context.json({ ...record, ...policies, ...statements });
}
