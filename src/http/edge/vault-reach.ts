import { reaches } from '#domain/access/token-grant.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import { parseTransactionId, parseVaultId, vaultOfTransaction } from '#domain/id.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { problem } from '#http/encode/problem.ts';

interface ReachedRoute {
  readonly method: string;
  readonly scope?: string;
}

interface ReadInput {
  readonly params: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/**
 * Refuses `insufficient-scope` to a token that is limited to other vaults than the one in the path
 * or in the body, and to a command that concerns all vaults of the user. Every route of a user has
 * this check. A route without a vault that answers with several vaults leaves out the others.
 */
export function beyondVaults(context: HttpContext, { method, scope }: ReachedRoute, input: ReadInput): Response | null {
  const { token } = context.get('caller');
  if (token === null || token.vaultIds === null) return null;
  const vaultId = vaultOf(input);
  const isWithin = vaultId === null ? method === 'GET' || scope === 'own' : reaches(token, vaultId);
  if (isWithin) return null;
  return problem(context, 'insufficient-scope', {
    detail: `The token is limited to the vaults ${token.vaultIds.join(', ')}.`,
    headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' },
    members: { vaultIds: token.vaultIds },
  });
}

/** Returns the vault that a request concerns; null for none. */
function vaultOf({ params, body }: ReadInput): VaultId | null {
  const { vaultId = isJsonObject(body) ? body['vaultId'] : undefined, txId } = params;
  if (typeof vaultId === 'number') return parseVaultId(vaultId);
  const id: TransactionId | null = typeof txId === 'string' ? parseTransactionId(txId) : null;
  return id === null ? null : vaultOfTransaction(id);
}
