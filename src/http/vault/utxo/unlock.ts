import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { outpointBody, outpointOf } from '#http/vault/utxo/record.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * POST /vault/{vaultId}/utxos/unlock: unlocks a UTXO of a Bitcoin wallet. A repeated request
 * changes nothing.
 *
 * A viewer changes nothing.
 */
export const unlockUtxo = route({
  method: 'POST',
  path: '/vault/:vaultId/utxos/unlock',
  access: 'write',
  scope: 'create',
  summary: 'Unlock a UTXO of a Bitcoin wallet',
  body: outpointBody,
  answer: { status: 204, schema: null },
  refuses: ['not-on-this-chain', 'forbidden'],
  handle: unlock,
});

async function unlock(
  context: HttpContext,
  { params: { vaultId }, body }: Input<{ params: 'vaultId'; body: typeof outpointBody }>,
): Promise<Response> {
  const outpoint = outpointOf(context, body);
  if (!outpoint.ok) return outpoint.refusal;
  const actor = actorOf(context);
  const unlocked = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'unlockUtxo', ...outpoint.value }),
  );
  return unlocked.ok ? context.body(null, 204) : refusalProblem(context, unlocked.refusal);
}
