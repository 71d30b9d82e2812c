import type { CredentialResetId, VaultId } from '#domain/id.ts';
import { parseCredentialResetId } from '#domain/id.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { vaultIdOf } from '#http/vault/vault-path.ts';

/** Returns the id of the credential reset in the path, or a problem when it is not such an id. */
export function resetIdOf(context: HttpContext): CredentialResetId | Response {
  const id = parseCredentialResetId(context.req.param('resetId') ?? '');
  const fault = { pointer: 'resetId', code: 'invalid-id', detail: 'Must be the id of a credential reset.' };
  return id ?? invalidRequest(context, [fault]);
}

/** Returns the vault id and the credential reset id in the path, or a problem. */
export function vaultResetOf(
  context: HttpContext,
): { readonly vaultId: VaultId; readonly resetId: CredentialResetId } | Response {
  const vaultId = vaultIdOf(context);
  if (vaultId instanceof Response) return vaultId;
  const resetId = resetIdOf(context);
  return resetId instanceof Response ? resetId : { vaultId, resetId };
}
