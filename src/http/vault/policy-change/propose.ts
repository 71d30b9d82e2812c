import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { policyPatchBody, readPolicyPatch } from '#http/vault/policy-body.ts';
import { respondWithChange } from '#http/vault/policy-change/decision.ts';
import { policyChangeSchema } from '#http/encode/policy-change.ts';
import { pinnedKeysFault, pinsForChange } from '#http/vault/pinned-keys.ts';
import { newTokensProblem } from '#http/vault/policy-tokens.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * POST /vault/{vaultId}/policy-change: proposes the next policy of a vault. Fields that are absent
 * from the body stay as they are. A signer or an admin proposes, and the current signers decide. A
 * repeated proposal gives the same change.
 *
 * `chain-unavailable`: the decimals of a new token cannot be read.
 */
export const proposePolicyChange = route({
  method: 'POST',
  path: '/vault/:vaultId/policy-change',
  access: 'write',
  scope: 'create',
  summary: 'Propose a policy change',
  body: policyPatchBody,
  answer: { status: 201, schema: policyChangeSchema },
  refuses: [
    'forbidden',
    'policy-unchanged',
    'too-many-policy-changes',
    'too-many-own-policy-changes',
    'chain-unavailable',
  ],
  handle: propose,
});

async function propose(
  context: HttpContext,
  { params: { vaultId }, body }: Input<{ params: 'vaultId'; body: typeof policyPatchBody }>,
): Promise<Response> {
  const actor = actorOf(context);
  // This check comes first: otherwise an outsider could find out here which user ids exist.
  const seen = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'policyInForce' }),
  );
  if (!seen.ok) return refusalProblem(context, seen.refusal);
  const patch = await readPolicyPatch(context, body);
  if (!patch.ok) return invalidRequest(context, patch.refusal);
  const foreign = await pinnedKeysFault(context, patch.value.cosigners ?? seen.value.policy.cosigners);
  if (foreign !== null) return invalidRequest(context, [foreign]);
  const { tokens } = patch.value.rules ?? {};
  const unproven = await newTokensProblem(context, tokens ?? [], { known: seen.value.policy.rules.tokens ?? [] });
  if (unproven !== null) return unproven;
  const pins = await pinsForChange(context, body, seen.value.policy);
  const proposal = { patch: { ...patch.value, ...pins }, note: body.note ?? null };
  const proposed = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'proposePolicy', ...proposal }),
  );
  return respondWithChange(context, proposed, 201);
}
