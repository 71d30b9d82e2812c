import { rulesFor } from '#chains/families/rules-for.ts';
import type { TransactionId } from '#domain/id.ts';
import { keepsReservation } from '#domain/transaction/job.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/**
 * Reports to the nonce allocator how a transaction ended: on chain, or never. A nonce that ended
 * unused goes to the next transaction of the wallet, because a gap blocks everything behind it; so
 * does a reusable nonce slot on Solana. The UTXOs of a transaction that a member has ended, and
 * that may still be included, stay reserved while it is watched.
 */
export async function releaseNonce(env: CoordinatorEnv, vault: VaultDoors, id: TransactionId): Promise<void> {
  const work = await vault.work({ type: 'transactionWork', id, job: 'settle' });
  if (work === null) return;
  const { inclusion } = work.transaction;
  const allocator = env.WALLET_NONCE.getByName(
    `nonce:${work.transaction.intent.chain}:${work.transaction.intent.from}`,
  );
  const isSpent = rulesFor(work.chain).ordering.by === 'account-nonce';
  // For a conflict, the chain's own count shows that the nonce is used. A settled transaction has a
  // final inclusion or none.
  const used = isSpent && inclusion !== null;
  const kept = keepsReservation(work.transaction);
  const includedIn = inclusion?.blockNumber ?? null;
  await allocator.end({ transactionId: id, isSpent: used, includedIn, keepsCoins: kept });
  await vault.report({ type: 'recordEvent', id, event: { type: 'settle', keepsCoins: kept } });
}
