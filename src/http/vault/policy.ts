import * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { foundingRecord, foundingSchema, policyRecord, policySchema } from '#http/encode/policy.ts';
import { nonceQuery, statementFields, statementRecord } from '#http/encode/statement.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const governanceSchema = z
  .strictObject({
    policy: policySchema,
    ...statementFields,
    spent: z.array(z.string()).meta({
      description: 'Amount committed within the last 24 hours, for each limit in its order, in the smallest unit',
    }),
    renewalsNeeded: z
      .array(
        z.strictObject({
          version: z.int(),
          cosigners: z
            .array(z.int())
            .meta({ description: 'Empty when the vault has no key yet and all co-signers need the renewal' }),
        }),
      )
      .meta({
        description:
          'Versions whose mandate expired before these co-signers adopted them. The quorum must renew each of them.',
      }),
    founding: foundingSchema.nullable(),
  })
  .meta({ id: 'PolicyInForce' });

/**
 * GET /vault/{vaultId}/policy: returns the policy in force and the used amount of each limit. With
 * a nonce, the response contains the statements of the co-signers for every key of the vault.
 */
export const readPolicy = route({
  method: 'GET',
  path: '/vault/:vaultId/policy',
  access: 'read',
  byDevice: true,
  summary: 'Read the policy in force, the usage of its limits and, with a nonce, the statements of the co-signers',
  query: nonceQuery,
  answer: { status: 200, schema: governanceSchema },
  refuses: ['forbidden'],
  handle: read,
});

async function read(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof nonceQuery }>,
): Promise<Response> {
  const actor = actorOf(context);
  const view = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'policyInForce' }),
  );
  if (!view.ok) return refusalProblem(context, view.refusal);
  const { policy, spent, keys, founding } = view.value;
  const renewalsNeeded = view.value.renewalsNeeded.map(({ version, cosigners }) => ({
    version,
    cosigners: [...cosigners],
  }));
  const statements = await statementRecord(context, keys, query);
  return context.json({
    policy: policyRecord(policy, chainsFrom(context.env)),
    ...statements,
    spent,
    renewalsNeeded,
    founding: foundingRecord(founding),
  });
}
