import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { pageOf } from '#http/edge/page.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import { approvalRecord } from '#http/encode/transaction.ts';
import { approvalSchema } from '#http/encode/transaction-schema.ts';
import { policyRecord, policySchema } from '#http/encode/policy.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const PAGE = 20;

const listQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, 'Must be a cursor of this list.')
    .optional(),
});

const listSchema = z
  .strictObject({
    data: z.array(
      z.strictObject({
        policy: policySchema,
        mandate: z
          .strictObject({
            id: z.string(),
            canonical: z
              .string()
              .meta({ description: 'Canonical bytes of the mandate, in hex; each approval refers to their SHA-256' }),
            note: z.string().nullable(),
            createdAt: z.iso.datetime(),
            expiresAt: z.iso.datetime(),
            approvals: z.array(approvalSchema),
          })
          .nullable()
          .meta({ description: 'The mandate that put the policy in force; null for version 1' }),
      }),
    ),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'AdoptedPolicyList' });

/**
 * GET /vault/{vaultId}/policies: returns every policy that was ever in force, newest first, with
 * the approvals that put it in force. A verifier follows the chain of canonical bytes and
 * signatures from a policy that it knows to the current one.
 */
export const listPolicies = route({
  method: 'GET',
  path: '/vault/:vaultId/policies',
  access: 'read',
  byDevice: true,
  summary: 'List all policies that were ever in force, with their mandates, newest first',
  query: listQuery,
  answer: { status: 200, schema: listSchema },
  refuses: ['forbidden'],
  handle: list,
});

async function list(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof listQuery }>,
): Promise<Response> {
  const { cursor } = query;
  const before = cursor === undefined ? null : Number.parseInt(cursor, 10);
  const actor = actorOf(context);
  const read = await callObject(
    () => vaultStub(context.env, vaultId),
    // One extra row shows whether there is another page.
    (vault) => vault.query(actor, { type: 'policyHistory', before, limit: PAGE + 1 }),
  );
  if (!read.ok) return refusalProblem(context, read.refusal);
  const { shown, nextCursor } = pageOf(read.value, PAGE, ({ policy }) => String(policy.version));
  const chains = chainsFrom(context.env);
  return context.json({ data: shown.map((adopted) => adoptedRecord(adopted, chains)), nextCursor });
}

function adoptedRecord({ policy, mandate }: AdoptedPolicy, chains: readonly Chain[]) {
  return {
    policy: policyRecord(policy, chains),
    mandate:
      mandate === null
        ? null
        : {
            id: mandate.id,
            canonical: bytesToHex(mandateBytes(mandate, policyHashOf(policy))),
            note: mandate.note,
            createdAt: rfc3339(mandate.createdAtMs),
            expiresAt: rfc3339(mandate.expiresAtMs),
            approvals: mandate.approvals.map(approvalRecord),
          },
  };
}
