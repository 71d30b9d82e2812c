import type { ChainClient, WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import type { Result } from '#domain/result.ts';
import { unreachable } from '#domain/result.ts';
import type { UnknownEndReason } from '#domain/transaction/job.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { signedAttempts } from '#domain/transaction/transaction.ts';

/**
 * Returns the state of those attempts that may be on the network. Throws when none is signed,
 * because there is nothing to observe.
 */
export async function observeAttempts(
  client: ChainClient,
  transaction: Transaction,
): Promise<Result<Observation, ChainFault>> {
  const { intent, attempts, inclusion } = transaction;
  const signed = signedAttempts(transaction);
  const newest = signed.at(-1);
  if (newest === undefined) throw new Error('a transaction to observe has no signed attempt');
  return client.observe({
    from: intent.from,
    nonce: BigInt(newest.nonce),
    hashes: signed.map((attempt) => attempt.signed.hash),
    newest: { ...newest, validUntil: lastBlockOf(attempts) },
    payloads: signed.map(({ payload }) => payload),
    coinParents: attempts.flatMap(({ coinParents = [] }) => coinParents),
    inclusion,
    ...tokenPaymentOf(transaction),
  });
}

function tokenPaymentOf(transaction: Transaction): Pick<WatchedAttempts, 'tokenPayment'> {
  const { intent } = transaction;
  if (intent.kind !== 'transfer' || intent.tokenAddress === null) return {};
  const { tokenAddress, to, amount } = intent;
  const paying = signedAttempts(transaction).filter(({ purpose }) => purpose === 'intent');
  return { tokenPayment: { tokenAddress, to, amount, hashes: paying.map(({ signed }) => signed.hash) } };
}

/**
 * Returns the last block that can hold any of the attempts. An RPC node that lags gives a later
 * attempt less time than an earlier one.
 */
function lastBlockOf(attempts: readonly Attempt[]): string | null {
  const blocks = attempts.flatMap(({ validUntil }) => (validUntil === null ? [] : [BigInt(validUntil)]));
  return blocks.length === 0 ? null : blocks.reduce((last, one) => (one > last ? one : last)).toString();
}

/**
 * Reports whether RPC nodes still leave the end of a transaction open for the reason that its
 * record names. Its record is from an earlier poll, and a node may state by now that the payment is
 * made, or that it can still be made.
 */
export function leavesEndUnknown(seen: Observation, reason: UnknownEndReason): boolean {
  if (seen.type !== 'absent') return false;
  const { inMempool, nonceTaken, isUnexplained = false, isCoinUnknown = false } = seen;
  switch (reason) {
    case 'NONCE_USED_UNEXPLAINED':
      return isUnexplained || nonceTaken;
    case 'COIN_UNKNOWN':
      return isCoinUnknown || nonceTaken;
    case 'REJECTED_BY_NODE':
    case 'NOT_SHOWN':
      return !inMempool;
    default:
      return unreachable(reason);
  }
}
