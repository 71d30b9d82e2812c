import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionId } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf, vaultStubOf } from '#http/transaction/transaction-path.ts';

/** A decision of a signer on a transaction. A device can sign it. */
type Decision =
  | { readonly type: 'approve'; readonly device: DeviceSignature | null }
  | { readonly type: 'reject'; readonly device: DeviceSignature | null; readonly reason?: string };

/**
 * Records the caller's decision and returns the response with the record. A repeated decision gives
 * 200 with `alreadyCounted`.
 */
export async function recordDecision(context: HttpContext, id: TransactionId, decision: Decision): Promise<Response> {
  const actor = actorOf(context);
  const decided = await callObject(
    () => vaultStubOf(context, id),
    (vault) =>
      decision.type === 'approve'
        ? vault.execute(actor, { ...decision, id })
        : vault.execute(actor, { ...decision, id }),
  );
  if (!decided.ok) return refusalProblem(context, decided.refusal);
  const { view, changed } = decided.value;
  return context.json({ ...recordOf(context, view), alreadyCounted: !changed });
}
