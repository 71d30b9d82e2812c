import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf, vaultStubOf } from '#http/transaction/transaction-path.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';

const visibilityBody = z.strictObject({ visible: z.boolean() }).meta({
  examples: [{ visible: false }],
});

/**
 * PATCH /transaction/{txId}/visibility: shows or hides a transaction in lists, for every member of
 * the vault. The choice of a member stays, whatever the spam rules decide later.
 *
 * A viewer changes nothing. What the vault itself pays is hidden by its creator until it is
 * approved, and from then on shown. After its end an admin hides it; its creator, too, when no
 * signer had approved it.
 */
export const visibility = route({
  method: 'PATCH',
  path: '/transaction/:txId/visibility',
  access: 'write',
  scope: 'create',
  summary: 'Show or hide a transaction in lists',
  body: visibilityBody,
  answer: transactionAnswer(200),
  refuses: ['forbidden', 'transaction-not-found'],
  handle: setVisibility,
});

async function setVisibility(
  context: HttpContext,
  { params: { txId: id }, body: { visible } }: Input<{ params: 'txId'; body: typeof visibilityBody }>,
): Promise<Response> {
  const actor = actorOf(context);
  const changed = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.execute(actor, { type: 'setVisibility', id, visible }),
  );
  return changed.ok ? context.json(recordOf(context, changed.value)) : refusalProblem(context, changed.refusal);
}
