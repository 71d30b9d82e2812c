import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { credentialResetSchema } from '#http/encode/credential-reset.ts';
import { deviceSignatureBody, deviceSignatureIn } from '#http/encode/device-signature.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import { cancelled } from '#http/vault/credential-reset/cancel.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * POST /vault/{vaultId}/credential-reset/{resetId}/cancel-by-device: cancels the reset of a user
 * with one of the user's devices in the policy in force of the vault. It requires no credential,
 * because the user may have lost all of them. The device signs the SHA-256 of the canonical bytes
 * of conclave/credential-reset-cancellation/v1 over vaultId, userId and resetId.
 */
export const cancelByDevice = route({
  method: 'POST',
  path: '/vault/:vaultId/credential-reset/:resetId/cancel-by-device',
  access: 'anyone',
  summary: 'Cancel a credential reset with a device signature, without a credential',
  body: deviceSignatureBody,
  answer: { status: 200, schema: credentialResetSchema },
  refuses: [
    'quota-exceeded',
    'credential-reset-not-found',
    'device-signature-refused',
    'credential-reset-not-pending',
    'unavailable',
  ],
  handle: cancel,
});

async function cancel(
  context: HttpContext,
  { params: { vaultId, resetId }, body }: Input<{ params: 'vaultId' | 'resetId'; body: typeof deviceSignatureBody }>,
): Promise<Response> {
  const flood = await limitByAddress(context);
  if (flood !== null) return flood;
  const signature = deviceSignatureIn(body);
  if (signature === null) {
    return refusalProblem(context, { code: 'device-signature-refused', fault: 'unknown-device' });
  }
  const received = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.work({ type: 'verifyResetCancellation', id: resetId, signature }),
  );
  if (!received.ok) return refusalProblem(context, received.refusal);
  const { userId } = received.value;
  return cancelled(context, received.value, { userId, tokenId: null, deviceKeyId: signature.keyId, isProven: true });
}
