import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { noSuchVault, vaultOf } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { policyPatchBody, readPolicyPatch } from '#http/vault/policy-body.ts';
import { pinnedKeysFault, pinsForChange } from '#http/vault/pinned-keys.ts';
import { respondWithChange } from '#http/vault/policy-change/decision.ts';
import { newTokensProblem } from '#http/vault/policy-tokens.ts';
import { policyChangeSchema } from '#http/encode/policy-change.ts';

/**
 * POST /internal/vault/{vaultId}/policy-change: proposes the next policy on behalf of the operator.
 * The signers decide on signers, thresholds and rules: a service key proposes, and nothing more.
 *
 * `chain-unavailable`: the decimals of a new token cannot be read.
 */
export const proposeAsOperator = route({
  method: 'POST',
  path: '/internal/vault/:vaultId/policy-change',
  access: 'service',
  scope: 'vaults',
  summary: 'Propose a policy change to the signers',
  body: policyPatchBody,
  answer: { status: 201, schema: policyChangeSchema },
  refuses: ['vault-not-found', 'policy-unchanged', 'too-many-policy-changes', 'chain-unavailable'],
  handle: propose,
});

async function propose(
  context: HttpContext,
  { params: { vaultId }, body }: OperatorInput<{ params: 'vaultId'; body: typeof policyPatchBody }>,
): Promise<Response> {
  const patch = await readPolicyPatch(context, body);
  if (!patch.ok) return invalidRequest(context, patch.refusal);
  const object = vaultOf(context, vaultId);
  if (object === null) return noSuchVault(context);
  const known = await callObject(object, (vault) => vault.work({ type: 'describeVault' }));
  const foreign = await pinnedKeysFault(context, patch.value.cosigners ?? known?.policy.cosigners);
  if (foreign !== null) return invalidRequest(context, [foreign]);
  const { tokens } = patch.value.rules ?? {};
  const unproven = await newTokensProblem(context, tokens ?? [], { known: known?.policy.rules.tokens ?? [] });
  if (unproven !== null) return unproven;
  const pins = await pinsForChange(context, body, known?.policy);
  const proposal = { patch: { ...patch.value, ...pins }, note: body.note ?? null };
  const proposed = await callObject(object, (vault) =>
    vault.execute(operatorOf(context), { type: 'proposePolicy', ...proposal }),
  );
  // For an operator, `forbidden` means only that the vault does not exist.
  const missing = !proposed.ok && typeof proposed.refusal !== 'string' && proposed.refusal.code === 'forbidden';
  return missing ? noSuchVault(context) : respondWithChange(context, proposed, 201);
}
