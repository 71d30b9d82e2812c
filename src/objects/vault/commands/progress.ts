import { findChain } from '#chains/families/registry.ts';
import type { TransactionId } from '#domain/id.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { TransactionProgress } from '#objects/vault/views.ts';

/** Returns a transaction with its pending job, for operators; null for one that does not exist. */
export function transactionProgress(
  context: VaultContext,
  { id }: { readonly id: TransactionId },
): TransactionProgress | null {
  const { storage, chains } = context;
  const transaction = context.vault() === null ? null : storage.transaction(id);
  if (transaction === null) return null;
  const job = outstandingJob(transaction);
  const queued = job === null ? null : storage.queuedJob(id, job);
  return { transaction, job, queued, confirmations: findChain(chains, transaction.chain)?.confirmations ?? null };
}
