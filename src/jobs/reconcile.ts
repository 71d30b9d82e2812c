import { chainClientFor } from '#chains/client-for.ts';
import type { VaultId } from '#domain/id.ts';
import { valueTokens } from '#jobs/value-assets.ts';
import { isFungible } from '#domain/activity/movement.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';
import { isScanOpen, requestScan } from '#store/deliveries.ts';

/**
 * Compares what the ledger of a vault says with what its chains say. Where they differ for the first time the blocks since they agreed are
 * looked through for what no monitor has reported; what that finds comes in as if one had. The vault decides what a difference means, and when
 * to compare again, so a message that is lost, late or doubled is one comparison less or more.
 */
export async function reconcile(
  env: CoordinatorEnv,
  vault: DurableObjectStub<VaultObject>,
  vaultId: VaultId,
): Promise<void> {
  for (const { chain, address, assets, hasDiscrepancy } of await vault.reconcileWork()) {
    // Asked first: what a look has told before it came to its end is in the ledger by the time of the comparison.
    const hasOpenScan = await isScanOpen(env.DB, { vaultId, chain: chain.caip2 });
    const held = (await chainClientFor(env, chain)?.holdings(address, assets, hasDiscrepancy)) ?? null;
    if (held?.ok === true && held.value.isDisputed) {
      console.error(JSON.stringify({ event: 'nodes-disagree', vaultId, chain: chain.name }));
    }
    const range = await vault.recordHoldings({
      chain: chain.name,
      assets,
      held: held?.ok === true ? held.value : null,
      hasOpenScan,
    });
    // So that whoever looks at the balances sees what they are worth.
    const tokens = assets.filter(isFungible).flatMap(({ tokenAddress }) => tokenAddress ?? []);
    await valueTokens(env, chain, tokens);
    if (range === null) continue;
    const { since } = range;
    const deliveryId = await requestScan(env.DB, { vaultId, chain: chain.caip2, address, since }, Date.now());
    if (deliveryId !== null) await env.ACTIVITY_QUEUE.send({ deliveryId });
  }
}
