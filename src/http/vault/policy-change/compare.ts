import * as z from 'zod';
import { parsePolicyChangeId } from '#domain/id.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import type { PolicyDecision } from '#domain/transaction/policy-comparison.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { violationText } from '#http/encode/violation-text.ts';
import { policyPatchBody, readPolicyPatch } from '#http/vault/policy-body.ts';
import type { ComparedPolicy } from '#objects/vault/commands/policy-comparison.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { PATCH_FAULTS } from '#review/patch-fault.ts';

const changeIdField = z
  .string()
  .refine((text) => parsePolicyChangeId(text) !== null, 'Must be the id of a policy change.');

const comparisonBody = z
  .strictObject({
    changeId: changeIdField.optional().meta({ description: 'A pending policy change' }),
    patch: policyPatchBody.optional().meta({ description: 'The body of a proposal' }),
  })
  .refine(({ changeId, patch }) => (changeId === undefined) !== (patch === undefined), 'Send changeId or patch.')
  .meta({ examples: [{ patch: { threshold: 3 } }] });

const decisionSchema = z.strictObject({
  requiredApprovals: z.int(),
  forbiddenBy: z
    .strictObject({ rule: z.string(), detail: z.string() })
    .nullable()
    .meta({ description: 'The rule that refuses the transaction; null when no rule does' }),
});

const count = z.int();

const comparisonSchema = z
  .strictObject({
    compared: count.meta({ description: 'Transactions that were compared, at most 100' }),
    moreApprovals: count.meta({ description: 'Allowed by both policies, with more approvals than now' }),
    fewerApprovals: count.meta({ description: 'Allowed by both policies, with fewer approvals than now' }),
    refused: count.meta({ description: 'Allowed by the policy in force, and refused by the compared one' }),
    noLongerRefused: count.meta({ description: 'Refused by the policy in force, and allowed by the compared one' }),
    different: z
      .array(z.strictObject({ id: z.string(), before: decisionSchema, after: decisionSchema }))
      .meta({ description: 'The transactions that the two policies decide in different ways, newest first' }),
  })
  .meta({
    id: 'PolicyComparison',
    description:
      'What another policy would have decided about the newest 100 transactions and messages that members created, ' +
      'in any state but DRAFT. `before` is the policy in force and `after` the compared one. Each decides as though ' +
      'the transaction had been created under it, whatever was decided at the time. A daily limit counts the ' +
      'compared transactions of the 24 hours before that spent and that the policy allows. Older ones than the ' +
      'compared transactions are not counted, so in their first 24 hours a daily limit may refuse too few.',
  });

/**
 * POST /vault/{vaultId}/policy-comparison: compares a pending policy change, or the body of a
 * proposal, with the policy in force over the newest transactions. It changes nothing.
 */
export const comparePolicyChange = route({
  method: 'POST',
  path: '/vault/:vaultId/policy-comparison',
  access: 'read',
  summary: 'Compare a policy change with the last 100 transactions',
  body: comparisonBody,
  answer: { status: 200, schema: comparisonSchema },
  refuses: ['forbidden', 'policy-change-not-found', 'policy-change-not-pending'],
  handle: compare,
});

async function compare(
  context: HttpContext,
  { params: { vaultId }, body }: Input<{ params: 'vaultId'; body: typeof comparisonBody }>,
): Promise<Response> {
  const actor = actorOf(context);
  // This check comes first: otherwise an outsider could find out here which user ids exist.
  const seen = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'policyInForce' }),
  );
  if (!seen.ok) return refusalProblem(context, seen.refusal);
  const read = await readCompared(context, body);
  if (!read.ok) return invalidRequest(context, read.refusal);
  const compared = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'comparePolicy', compared: read.value }),
  );
  if (!compared.ok) {
    const { refusal } = compared;
    if (typeof refusal !== 'string') return refusalProblem(context, refusal);
    const [pointer, detail] = PATCH_FAULTS[refusal];
    return invalidRequest(context, inPatch([{ pointer, code: 'invalid', detail }]));
  }
  const different = compared.value.different.map(({ id, before, after }) => ({
    id,
    before: decisionRecord(before),
    after: decisionRecord(after),
  }));
  return context.json({ compared: compared.value.compared, ...countsOf(compared.value.different), different });
}

async function readCompared(
  context: HttpContext,
  { changeId, patch }: z.infer<typeof comparisonBody>,
): Promise<Result<ComparedPolicy, readonly FieldFault[]>> {
  const id = changeId === undefined ? null : parsePolicyChangeId(changeId);
  if (id !== null) return accepted({ changeId: id });
  const read = await readPolicyPatch(context, patch ?? {});
  return read.ok ? accepted({ patch: read.value }) : refused(inPatch(read.refusal));
}

function inPatch(faults: readonly FieldFault[]): FieldFault[] {
  return faults.map((fault) => ({ ...fault, pointer: `/patch${fault.pointer}` }));
}

type Compared = readonly { readonly before: PolicyDecision; readonly after: PolicyDecision }[];

function countsOf(different: Compared) {
  const isAllowed = ({ forbiddenBy }: PolicyDecision) => forbiddenBy === null;
  const allowed = different.filter(({ before, after }) => isAllowed(before) && isAllowed(after));
  return {
    moreApprovals: allowed.filter(({ before, after }) => after.requiredApprovals > before.requiredApprovals).length,
    fewerApprovals: allowed.filter(({ before, after }) => after.requiredApprovals < before.requiredApprovals).length,
    refused: different.filter(({ before, after }) => isAllowed(before) && !isAllowed(after)).length,
    noLongerRefused: different.filter(({ before, after }) => !isAllowed(before) && isAllowed(after)).length,
  };
}

function decisionRecord({ requiredApprovals, forbiddenBy }: PolicyDecision): z.infer<typeof decisionSchema> {
  const breach = forbiddenBy === null ? null : { rule: forbiddenBy.rule, detail: violationText(forbiddenBy) };
  return { requiredApprovals, forbiddenBy: breach };
}
