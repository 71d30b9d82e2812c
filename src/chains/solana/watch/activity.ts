import type { Address } from '@solana/kit';
import { isSignature } from '@solana/kit';
import { checkAbsence } from '#chains/rpc/absence-check.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unread, unshown, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { mintIn } from '#chains/solana/client/accounts.ts';
import { depthOf } from '#chains/solana/watch/depth.ts';
import { movementsIn, mayBeNft } from '#chains/solana/watch/movements.ts';
import type { Status } from '#chains/solana/client/rpc-calls.ts';
import {
  getAccounts,
  getBlockHashAt,
  getSlot,
  getSignatureStatuses,
  getTransaction,
  BLOCK_CALLS,
  unreadVersion,
} from '#chains/solana/client/rpc-calls.ts';
import type { ReadTransaction } from '#chains/chain-client.ts';
import type { ActivityBlock } from '#domain/activity/activity.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Returns a transaction with all its movements; null when the RPC node has no confirmed one. A
 * failed one has no movements.
 */
export async function readActivity(
  node: RpcNode,
  chain: Chain,
  { hash, found }: { readonly hash: string; readonly found: ActivityBlock | null },
): Promise<Result<ReadTransaction | null, NodeProblem>> {
  // No cluster has a malformed signature, and an RPC node would answer with an error.
  if (!isSignature(hash)) return accepted(null);
  const statuses = await node.request(getSignatureStatuses([hash]));
  if (!statuses.ok) return statuses;
  const status = statuses.value.value[0] ?? null;
  if (status === null) return checkAbsence(node, chain, { block: found, hashes: [hash] }, BLOCK_CALLS);
  if (status.commitment === 'processed') {
    return found === null
      ? accepted(null)
      : unusable('The RPC node does not have the votes for the recorded transaction.');
  }
  const landed = await readMined(node, chain, { hash, status });
  if (!landed.ok) return landed;
  const { signer, fee, block, error, movements, memo } = landed.value;
  const noted = memo === null ? {} : { memo };
  return accepted({ hash, signer, fee, block, movements, ...noted, ...(error === null ? {} : { hasFailed: true }) });
}

interface LandedTransaction {
  readonly signer: Address;
  readonly fee: Amount;
  readonly block: ActivityBlock;
  /** The network's message; null when it succeeded. */
  readonly error: string | null;
  readonly movements: readonly ChainMovement[];
  readonly memo: string | null;
}

/** Returns a transaction that has a status. */
export async function readMined(
  node: RpcNode,
  chain: Chain,
  { hash, status }: { readonly hash: string; readonly status: Status },
): Promise<Result<LandedTransaction, NodeProblem>> {
  const [landed, blockHash, head] = await Promise.all([
    node.request(getTransaction(hash, 'confirmed')),
    node.request(getBlockHashAt(status.slot)),
    node.request(getSlot('confirmed')),
  ]);
  if (!landed.ok) return refused(unreadVersion(landed.refusal));
  if (!blockHash.ok) return blockHash;
  if (!head.ok) return head;
  if (landed.value === null || blockHash.value === null)
    return unshown('The RPC node has a status without its transaction.');
  if (landed.value.slot !== status.slot) return unshown('The RPC node reports two blocks for one transaction.');
  const [signer] = landed.value.accounts;
  if (signer === undefined) return unusable('The transaction has no signer.');
  // The account alone does not name the wallet, whose change would be lost.
  const balances = [...landed.value.tokensBefore, ...landed.value.tokensAfter];
  if (landed.value.error === null && balances.some(({ owner }) => owner === null))
    return unread('The RPC node shows a token account without its owner.');
  const unique = await uniqueAmong(node, mayBeNft(landed.value));
  if (!unique.ok) return unique;
  return accepted({
    signer,
    fee: amountOf(landed.value.fee),
    block: { number: status.slot.toString(), hash: blockHash.value, ...depthOf(status, head.value, chain) },
    error: landed.value.error,
    movements: movementsIn(landed.value, (mint) => unique.value.has(mint)),
    memo: landed.value.memo,
  });
}

/** The maximum number of accounts in one call. */
const MAX_ACCOUNTS = 100;
/** A transaction names at most this many accounts, each with one mint. */
const MAX_MINTS = 256;

/** Returns the mints that are NFTs: a supply of one unit without fractions. */
async function uniqueAmong(
  node: RpcNode,
  mints: readonly Address[],
): Promise<Result<ReadonlySet<Address>, NodeProblem>> {
  const unique = new Set<Address>();
  for (let first = 0; first < Math.min(mints.length, MAX_MINTS); first += MAX_ACCOUNTS) {
    const request = mints.slice(first, first + MAX_ACCOUNTS);
    const accounts = await node.request(getAccounts(request));
    if (!accounts.ok) return accounts;
    const { value } = accounts.value;
    for (const [i, mint] of request.entries()) if (mintIn(value[i] ?? null)?.supply === 1n) unique.add(mint);
  }
  return accepted(unique);
}
