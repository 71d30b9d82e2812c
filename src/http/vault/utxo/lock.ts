import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { lockRecord, lockSchema, outpointBody, outpointOf } from '#http/vault/utxo/record.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * POST /vault/{vaultId}/utxos/lock: locks a UTXO of a Bitcoin wallet. No payment, replacement or
 * consolidation spends it until it is unlocked. The chain is not read, so a UTXO can be locked
 * before it arrives. A repeated request gives the first lock and changes nothing.
 *
 * A viewer changes nothing. `utxo-in-flight`: an attempt of a payment spends the UTXO.
 */
export const lockUtxo = route({
  method: 'POST',
  path: '/vault/:vaultId/utxos/lock',
  access: 'write',
  scope: 'create',
  summary: 'Lock a UTXO of a Bitcoin wallet',
  body: outpointBody,
  answer: { status: 200, schema: lockSchema },
  refuses: [
    'not-on-this-chain',
    'forbidden',
    'chain-not-enabled',
    'wallet-not-ready',
    'utxo-in-flight',
    'too-many-utxo-locks',
  ],
  handle: lock,
});

async function lock(
  context: HttpContext,
  { params: { vaultId }, body }: Input<{ params: 'vaultId'; body: typeof outpointBody }>,
): Promise<Response> {
  const outpoint = outpointOf(context, body);
  if (!outpoint.ok) return outpoint.refusal;
  const actor = actorOf(context);
  const locked = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.execute(actor, { type: 'lockUtxo', ...outpoint.value }),
  );
  return locked.ok ? context.json(lockRecord(locked.value)) : refusalProblem(context, locked.refusal);
}
