import type { ChainClient } from '#chains/chain-client.ts';
import { observeAttempts } from '#chains/observe-attempts.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { logAlert } from '#objects/metrics.ts';
import type { VaultDoors } from '#objects/vault/doors.ts';

interface Comparison {
  readonly env: Pick<CoordinatorEnv, 'METRICS'>;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
}

/**
 * Names the payments of a wallet whose final blocks the chain no longer has, the newest first: a
 * fork removes the newest blocks, so the first payment that still stands ends the search.
 */
export async function nameGonePayments({ env, vault, client }: Comparison, address: string): Promise<void> {
  const { name: chain } = client.chain;
  let count = 0;
  for (const transaction of await vault.query(null, { type: 'finalTransactions', chain, address })) {
    const seen = await observeAttempts(client, transaction);
    if (!seen.ok || seen.value.type === 'included') break;
    await vault.report({ type: 'recordEvent', id: transaction.id, event: { type: 'gone' } });
    count++;
  }
  if (count > 0)
    logAlert(env, { code: 'final-payment-gone', detail: `Final transactions of ${chain} are gone: ${count}.` });
}
