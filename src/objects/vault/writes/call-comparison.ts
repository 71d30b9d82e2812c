import { NATIVE, fungibleKindOn } from '#domain/asset/movement.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { enqueueReconciliation } from '#objects/vault/writes/vault-writes.ts';

/**
 * Compares the called contract, the listed tokens and the native asset with the chain at once when
 * a call has succeeded: a contract need not log what it moves (silent tokens, shares). An asset
 * that the wallet does not hold is not compared again (see `recordHoldings`).
 */
export function compareAfterCall(
  storage: VaultStorage,
  { before, after, chain }: { readonly before: Transaction; readonly after: Transaction; readonly chain: Chain | null },
): void {
  const { intent, state } = after;
  const hasSucceeded = state === 'SUCCEEDED' && before.state !== 'SUCCEEDED';
  if (chain === null || intent.kind !== 'contract-interaction' || !hasSucceeded) return;
  const nowMs = Date.now();
  const kind = fungibleKindOn(chain.caip2);
  for (const tokenAddress of new Set([intent.to, ...chain.tokens.map(({ address }) => address)])) {
    const asset = { chain: chain.name, kind, tokenAddress, tokenId: null };
    storage.balances.open(asset, true);
    storage.balances.schedule(asset, nowMs);
  }
  storage.balances.schedule({ chain: chain.name, ...NATIVE }, nowMs);
  enqueueReconciliation(storage);
}
