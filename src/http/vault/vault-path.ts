import { parseVaultIdText } from '#domain/id.ts';
import type { VaultId } from '#domain/id.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { invalidRequest } from '#http/edge/request-check.ts';

/** Returns the vault id in the path, or a problem when it is not a vault id. */
export function vaultIdOf(context: HttpContext): VaultId | Response {
  const id = parseVaultIdText(context.req.param('vaultId') ?? '');
  return id ?? invalidRequest(context, [{ pointer: 'vaultId', code: 'invalid-id', detail: 'Must be a vault id.' }]);
}
