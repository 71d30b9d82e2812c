import { chainClientFor } from '#chains/clients/client-for.ts';
import type { VaultId } from '#domain/id.ts';
import { recheckFinalPayments } from '#jobs/recheck-final.ts';
import { valueTokens } from '#jobs/value-assets.ts';
import { isFungible } from '#domain/asset/movement.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { isScanOpen, requestScan } from '#store/scans.ts';

/**
 * Compares the balances of a vault with those of its chains. At the first difference it requests a
 * scan of the blocks since they agreed, for transactions that no monitor has reported, which the
 * scan records. The vault decides what a difference means and when to compare again, so a
 * lost, late or doubled message is one comparison less or more.
 */
export async function reconcile(env: CoordinatorEnv, vault: VaultDoors, vaultId: VaultId): Promise<void> {
  for (const { chain, address, assets, hasDiscrepancy } of await vault.work({ type: 'reconcileWork' })) {
    // Read first: everything that a scan reported before it ended is in the balances by the time of
    // the comparison.
    const hasOpenScan = await isScanOpen(env.DB, { vaultId, chain: chain.caip2 });
    const client = chainClientFor(env, chain);
    const held = (await client?.holdings(address, assets, hasDiscrepancy)) ?? null;
    if (held?.ok === true && held.value.isDisputed) {
      console.error(JSON.stringify({ event: 'nodes-disagree', vaultId, chain: chain.name }));
    }
    const range = await vault.report({
      type: 'recordHoldings',
      chain: chain.name,
      assets,
      held: held?.ok === true ? held.value : null,
      hasOpenScan,
    });
    if (range !== null) {
      // The vault reports a difference once, so nothing that can fail comes before its scan is
      // stored.
      const differsAt = held?.ok === true ? { differsAt: held.value.blockNumber } : {};
      const request = { vaultId, chain: chain.caip2, address, sinceBlock: range.since, ...differsAt };
      const scanId = await requestScan(env.DB, request, Date.now());
      if (scanId !== null) await env.ACTIVITY_QUEUE.send({ scanId });
      if (client !== null) await recheckFinalPayments({ env, vault, client, since: range.since }, address);
    }
    // This refreshes the prices, so that balances show their market value.
    const tokens = assets.filter(isFungible).flatMap(({ tokenAddress }) => tokenAddress ?? []);
    const valuation = await valueTokens(env, { chain, client }, tokens);
    await vault.report({ type: 'recordPrices', chain: chain.name, valuation });
  }
}
