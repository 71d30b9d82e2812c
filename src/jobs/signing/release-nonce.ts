import { adapterFor } from '#chains/adapters.ts';
import type { TransactionId } from '#domain/id.ts';
import { keepsUtxosReserved } from '#domain/transaction/job.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';

/**
 * Tells the nonce allocator how a transaction ended: on chain, or never. A nonce that ended unused is given to the next
 * transaction of the wallet, because a gap blocks everything behind it; so is one that is used and used again, as a place on Solana.
 * The coins of one that a person has ended, and that may be included all the same, stay its own while it is watched.
 */
export async function releaseNonce(
  env: CoordinatorEnv,
  vault: DurableObjectStub<VaultObject>,
  id: TransactionId,
): Promise<void> {
  const work = await vault.work(id, 'settle');
  if (work === null) return;
  const { inclusion } = work.transaction;
  const allocator = env.WALLET_NONCE.getByName(
    `nonce:${work.transaction.intent.chain}:${work.transaction.intent.from}`,
  );
  const isSpent = adapterFor(work.chain, []).maxInFlight === null;
  // Of one that was conflicted with, the count of the chain says that its nonce is used. What is settled has a final inclusion or none.
  const used = isSpent && inclusion !== null;
  const kept = keepsUtxosReserved(work.transaction);
  const includedIn = inclusion?.blockNumber ?? null;
  await allocator.end({ transactionId: id, isSpent: used, includedIn, keepsCoins: kept });
  await vault.record(id, { type: 'settle', keepsCoins: kept });
}
