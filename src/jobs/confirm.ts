import type { TransactionId } from '#domain/id.ts';
import { newestAttempt } from '#domain/transaction.ts';
import { chainAccess } from '#chains/access.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';

/**
 * Looks where the attempts of a transaction are and reports it. The vault decides what that means, and when to look again:
 * there is no waiting here, so a lost message costs one poll and nothing else.
 */
export async function confirm(
  env: CoordinatorEnv,
  vault: DurableObjectStub<VaultObject>,
  id: TransactionId,
): Promise<void> {
  const work = await vault.work(id, 'confirm');
  const newest = work === null ? null : newestAttempt(work.transaction);
  if (work === null || newest === null) return;
  const adapter = chainAccess(env, work.chain);
  if (adapter === null) return;
  const { intent, attempts, inclusion } = work.transaction;
  const observed = await adapter.observe({
    from: intent.from,
    nonce: BigInt(newest.nonce),
    hashes: attempts.flatMap((attempt) => (attempt.signed === null ? [] : [attempt.signed.hash])),
    inclusion,
  });
  // A node that is away tells nothing; the vault's alarm sends this job again.
  if (!observed.ok) return;
  if (observed.value.type === 'included') {
    const confirmationsNeeded = work.chain.confirmations;
    await vault.record(id, { type: 'include', inclusion: observed.value.inclusion, confirmationsNeeded });
  } else {
    const { inMempool, nonceTaken } = observed.value;
    await vault.record(id, { type: 'miss', inMempool, nonceTaken });
  }
}
