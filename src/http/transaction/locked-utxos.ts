import { rulesFor } from '#chains/families/rules-for.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { VaultId } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * Returns the locked UTXOs of a vault on a chain, by name; none on chains with accounts. The caller
 * has permission already.
 */
export async function lockedUtxosOf(
  context: HttpContext,
  { chain, vaultId }: { readonly chain: Chain; readonly vaultId: VaultId },
): Promise<ReadonlySet<string>> {
  if (rulesFor(chain).ordering.by !== 'utxos') return new Set();
  const locked = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.work({ type: 'lockedUtxos', chain: chain.name }),
  );
  return new Set(locked);
}
