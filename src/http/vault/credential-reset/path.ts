import type { CredentialResetId, VaultId } from '#domain/id.ts';
import { parseCredentialResetId } from '#domain/id.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { vaultIdOf } from '#http/vault/vault-path.ts';

/** The credential reset that a path names, or the problem that it names none. */
export function resetIdOf(context: HttpContext): CredentialResetId | Response {
  const id = parseCredentialResetId(context.req.param('resetId') ?? '');
  const fault = { pointer: 'resetId', code: 'invalid-id', detail: 'Must be the id of a credential reset.' };
  return id ?? invalidRequest(context, [fault]);
}

/** The same in a vault. */
export function vaultResetOf(
  context: HttpContext,
): { readonly vaultId: VaultId; readonly resetId: CredentialResetId } | Response {
  const vaultId = vaultIdOf(context);
  if (vaultId instanceof Response) return vaultId;
  const resetId = resetIdOf(context);
  return resetId instanceof Response ? resetId : { vaultId, resetId };
}
