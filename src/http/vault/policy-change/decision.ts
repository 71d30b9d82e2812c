import { chainsFrom } from '#chains/families/registry.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { policyProblem } from '#http/vault/policy-body.ts';
import { policyChangeRecord } from '#http/encode/policy-change.ts';
import type { PolicyPatchFault } from '#domain/vault/next-policy.ts';
import type { ChangeDecision } from '#objects/vault/commands/policy.ts';
import type { PolicyChangeView } from '#objects/vault/views.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/** The parameters in the path of a policy change. */
export type ChangePath = 'vaultId' | 'changeId';

/** Returns the response with the policy change, or the problem of a refused one. */
export function respondWithChange(
  context: HttpContext,
  result: Result<PolicyChangeView, PolicyPatchFault | Refusal>,
  status: 200 | 201,
): Response {
  if (result.ok) return context.json(policyChangeRecord(result.value, chainsFrom(context.env)), status);
  const { refusal } = result;
  return typeof refusal === 'string' ? policyProblem(context, refusal) : refusalProblem(context, refusal);
}

/** Refusals of an approval or a rejection, in order. A device can sign both. */
export const SIGNED_DECISION_REFUSALS = [
  'forbidden',
  'policy-change-not-found',
  'policy-change-not-pending',
  'removed-by-change',
  'device-signature-required',
  'device-signature-refused',
] as const;

/** Records the caller's decision on a policy change and returns the response with the change. */
export async function decideOnChange(
  context: HttpContext,
  { vaultId, changeId }: Input<{ params: ChangePath }>['params'],
  decision: ChangeDecision,
): Promise<Response> {
  const actor = actorOf(context);
  const decided = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'decidePolicyChange', id: changeId, decision }),
  );
  return respondWithChange(context, decided, 200);
}
