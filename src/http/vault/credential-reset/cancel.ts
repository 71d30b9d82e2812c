import type { CredentialReset } from '#domain/access/credential-reset.ts';
import type { RequestedCancellation } from '#domain/access/reset-cancellation.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { credentialResetRecord, credentialResetSchema } from '#http/encode/credential-reset.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { personStub } from '#objects/person/stub.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * POST /vault/{vaultId}/credential-reset/{resetId}/cancel: cancels the reset of a user. Any member
 * of a vault of the user can cancel it, in any role. A member other than the user, and a token of
 * the user, can cancel one reset of the same user within 90 days. A repeated request gives 200 and
 * changes nothing.
 */
export const cancelCredentialReset = route({
  method: 'POST',
  path: '/vault/:vaultId/credential-reset/:resetId/cancel',
  access: 'write',
  scope: 'approve',
  summary: 'Cancel a credential reset of a member',
  answer: { status: 200, schema: credentialResetSchema },
  refuses: ['forbidden', 'credential-reset-not-found', 'credential-reset-not-pending', 'reset-cancellation-used'],
  handle: cancel,
});

async function cancel(
  context: HttpContext,
  { params: { vaultId, resetId } }: Input<{ params: 'vaultId' | 'resetId' }>,
): Promise<Response> {
  const actor = actorOf(context);
  const read = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'readCredentialResets', id: resetId }),
  );
  if (!read.ok) return refusalProblem(context, read.refusal);
  const [reset] = read.value;
  if (reset === undefined) return refusalProblem(context, { code: 'credential-reset-not-found' });
  return cancelled(context, reset, byCredential(context));
}

/** Returns the caller as the one who cancels. Only a session proves a login. */
export function byCredential(context: HttpContext): RequestedCancellation {
  const { user, tokenId, token } = context.get('caller');
  return { userId: user.id, tokenId, deviceKeyId: null, isProven: token === null };
}

/** Cancels a reset in the object of the user, which informs the vaults. Returns the response. */
export async function cancelled(
  context: HttpContext,
  { id, userId }: Pick<CredentialReset, 'id' | 'userId'>,
  cancellation: RequestedCancellation,
): Promise<Response> {
  const answer = await callObject(
    () => personStub(context.env, userId),
    (person) => person.cancelReset(id, cancellation),
  );
  return answer.ok ? context.json(credentialResetRecord(answer.value)) : refusalProblem(context, answer.refusal);
}
