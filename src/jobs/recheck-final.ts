import type { ChainClient } from '#chains/chain-client.ts';
import { observeAttempts } from '#chains/clients/observe-attempts.ts';
import { isByContract } from '#chains/contents.ts';
import { withProven } from '#chains/rpc/inclusion-contents.ts';
import type { Inclusion, Transaction } from '#domain/transaction/transaction.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { raiseAlert } from '#objects/metrics.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

interface Recheck {
  readonly env: Pick<CoordinatorEnv, 'METRICS' | 'DB'>;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  /** The last block at which balances and chain agreed; null without one. */
  readonly since: string | null;
}

/**
 * Polls the final payments of a wallet again, the newest first. It names those whose final blocks
 * the chain no longer has, and corrects those whose contents were stated falsely. A fork removes
 * the newest blocks, and a false amount is in a block after the last agreement, so an older payment
 * that still stands ends the search.
 */
export async function recheckFinalPayments({ env, vault, client, since }: Recheck, address: string): Promise<void> {
  const { name: chain } = client.chain;
  let count = 0;
  for (const transaction of await vault.work({ type: 'finalTransactions', chain, address })) {
    const seen = await observeAttempts(client, transaction);
    const isPartial = seen.ok && seen.value.type === 'absent' && seen.value.unansweredBy !== undefined;
    if (!seen.ok || isPartial) break;
    const { id, inclusion } = transaction;
    if (seen.value.type === 'included') {
      const stated = withKnownTrace(client, transaction, seen.value.inclusion);
      await vault.report({ type: 'recordEvent', id, event: { type: 'correct', inclusion: stated } });
      if (BigInt(inclusion?.blockNumber ?? 0) <= BigInt(since ?? 0)) break;
    } else {
      await vault.report({ type: 'recordEvent', id, event: { type: 'gone' } });
      count++;
    }
  }
  if (count > 0)
    await raiseAlert(env, {
      code: 'final-payment-gone',
      subject: chain,
      detail: `Final transactions of ${chain} are gone: ${count}.`,
    });
}

/**
 * Returns the inclusion with the known payments by contracts when RPC nodes show none (any more):
 * nodes trace recent blocks alone, and one of them may leave a payment out.
 */
function withKnownTrace({ chain }: ChainClient, { intent, inclusion }: Transaction, seen: Inclusion): Inclusion {
  const isShown = seen.movements.some(isByContract);
  const known = isShown ? [] : (inclusion?.movements.filter(isByContract) ?? []);
  return withProven(seen, known, { wallet: intent.from, chain });
}
