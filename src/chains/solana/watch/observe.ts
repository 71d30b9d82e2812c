import { hexToBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { checkOwnAbsence, denial } from '#chains/rpc/absence-check.ts';
import type { Observation, WatchedAttempts } from '#chains/chain-adapter.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { denialOf, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { storedNonce } from '#chains/solana/client/accounts.ts';
import { readMined } from '#chains/solana/watch/activity.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { findNonceConsumer } from '#chains/solana/watch/nonce-consumer.ts';
import type { At, Status } from '#chains/solana/client/rpc-calls.ts';
import {
  getAccounts,
  getBlockHeight,
  getSignatureStatuses,
  BLOCK_CALLS,
  MAX_STATUSES,
} from '#chains/solana/client/rpc-calls.ts';
import type { DurableNonce } from '#chains/solana/rules/payment-terms.ts';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { termsIn } from '#chains/solana/rules/transaction.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import { movementsOf } from '#domain/activity/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Where the attempts of a transaction are, as one node sees it: the one that succeeded where there is one. `lapsed` when none of them can be
 * carried out any more and nothing else has been in their place; `absent` with the nonce taken when another transaction, which the node names,
 * has.
 */
export async function observeTransaction(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<Observation, NodeProblem>> {
  const statuses = await statusesOf(node, watched.hashes);
  if (!statuses.ok) return statuses;
  const found = firstOf(statuses.value.value);
  if (found === null) return observeAbsence(node, chain, watched);
  // Where all have failed, or what all hang on is used up, nothing else can come.
  const isOpen = found.status.failed && statuses.value.value.length < watched.hashes.length;
  if (isOpen && slotOf(watched).anchor.kind === 'opening') return observeFailure(node, chain, watched);
  return included(node, chain, { watched, found });
}

async function included(
  node: RpcNode,
  chain: Chain,
  { watched, found: { hash, status } }: { readonly watched: WatchedAttempts; readonly found: Found },
): Promise<Result<Observation, NodeProblem>> {
  if (status.commitment === 'processed') {
    // A fork may still lose it: it is neither here nor gone.
    if (watched.inclusion === null) return accepted({ type: 'absent', inMempool: true, nonceTaken: false });
    return unusable('The RPC node does not have the votes for the recorded transaction.');
  }
  const landed = await readMined(node, chain, { hash, status });
  if (!landed.ok) return landed;
  const { block, error, fee, movements } = landed.value;
  if ((error !== null) !== status.failed)
    return unusable('The RPC node reports one transaction as failed and as successful.');
  return accepted({
    type: 'included',
    inclusion: {
      hash,
      blockNumber: block.number,
      blockHash: block.hash,
      succeeded: error === null,
      feePaid: fee,
      confirmations: block.confirmations,
      finalized: block.isFinal,
      failure: error,
      ...movementsOf(watched.from, movements, chain),
    },
  });
}

/**
 * An attempt to open the account has failed, and the node knows nothing of the others. It may have failed because another one succeeded: then
 * the account is open. Else it has opened nothing, and until all their blockhashes are too old the others can still be carried out; it is the
 * end only when they are, beyond every fork, and none of them has been meanwhile.
 */
async function observeFailure(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<Observation, NodeProblem>> {
  const statusOfHash = await statusOf(node, chain, watched);
  if (!statusOfHash.ok) return statusOfHash;
  if (statusOfHash.value.value === 'taken') {
    const used = await observeUse(node, chain, watched, statusOfHash.value.slot);
    if (used.ok && used.value.type === 'included') return used;
    return unusable('An attempt that the RPC node does not have opened the account.');
  }
  const again = await statusesSince(node, watched.hashes, statusOfHash.value.slot);
  if (!again.ok) return again;
  const found = firstOf(again.value);
  if (found !== null && (!found.status.failed || statusOfHash.value.value === 'lapsed')) {
    return included(node, chain, { watched, found });
  }
  const absent = await checkOwnAbsent(node, chain, watched);
  return absent.ok ? accepted({ type: 'absent', inMempool: false, nonceTaken: false }) : absent;
}

interface Found {
  readonly hash: string;
  readonly status: Status;
}

/** Of those that were carried out, be it in vain; at most one has succeeded. All pages are of the oldest slot that any of them is of. */
async function statusesOf(
  node: RpcNode,
  hashes: readonly string[],
): Promise<Result<At<readonly Found[]>, NodeProblem>> {
  const found: Found[] = [];
  let least: bigint | null = null;
  // A node that forwards nothing for hours leads to more attempts than one question may name.
  for (let start = 0; start < hashes.length; start += MAX_STATUSES) {
    const page = hashes.slice(start, start + MAX_STATUSES);
    const statuses = await node.request(getSignatureStatuses(page));
    if (!statuses.ok) return statuses;
    const { slot, value } = statuses.value;
    for (const [i, hash] of page.entries()) {
      const status = value[i] ?? null;
      if (status !== null) found.push({ hash, status });
    }
    if (least === null || slot < least) least = slot;
  }
  return accepted({ slot: least ?? 0n, value: found });
}

/** Behind one address there can be several nodes: whoever knows nothing of a transaction must have seen as much as who tells its end. */
async function statusesSince(
  node: RpcNode,
  hashes: readonly string[],
  slot: bigint,
): Promise<Result<readonly Found[], NodeProblem>> {
  const statuses = await statusesOf(node, hashes);
  if (!statuses.ok) return statuses;
  return statuses.value.slot < slot
    ? unusable('The RPC node is behind the last valid block of the attempt.')
    : accepted(statuses.value.value);
}

/** The one that succeeded, or the first that failed; null where none was carried out. */
function firstOf(statuses: readonly Found[]): Found | null {
  return statuses.find(({ status }) => !status.failed) ?? statuses[0] ?? null;
}

function slotOf({ from, newest }: WatchedAttempts): { readonly wallet: Address; readonly anchor: DurableNonce } {
  const terms = isPublicKey(from) ? termsIn(hexToBytes(newest.payload.slice(2)), from) : null;
  if (!isPublicKey(from) || terms === null) throw new Error('a stored payload can be read');
  return { wallet: from, anchor: terms.anchor };
}

async function observeAbsence(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<Observation, NodeProblem>> {
  const absent = await checkOwnAbsent(node, chain, watched);
  if (!absent.ok) return absent;
  const statusOfHash = await statusOf(node, chain, watched);
  if (!statusOfHash.ok) return statusOfHash;
  if (statusOfHash.value.value === 'waiting') return accepted({ type: 'absent', inMempool: false, nonceTaken: false });
  // It may have been carried out just now, between the two questions.
  const again = await statusesSince(node, watched.hashes, statusOfHash.value.slot);
  if (!again.ok) return again;
  if (again.value.length > 0) return unusable('The transaction appeared during the request.');
  return statusOfHash.value.value === 'lapsed'
    ? accepted({ type: 'lapsed' })
    : observeUse(node, chain, watched, statusOfHash.value.slot);
}

/**
 * The same as `checkOwnAbsence`. Where the node does not show the recorded block any more, a later final state in which what the attempts
 * hang on is unused denies it as well.
 */
async function checkOwnAbsent(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<null, NodeProblem>> {
  const absent = await checkOwnAbsence(node, chain, watched, BLOCK_CALLS);
  const { inclusion } = watched;
  // An opening that has failed has opened nothing.
  if (absent.ok || inclusion === null || (!inclusion.succeeded && slotOf(watched).anchor.kind === 'opening'))
    return absent;
  const status = await statusOf(node, chain, watched);
  if (!status.ok || status.value.slot < BigInt(inclusion.blockNumber)) return absent;
  if (status.value.value !== 'taken') return denial('The nonce of the attempts is unused in a later final block.');
  // The history of the node begins after the slot, which it calls skipped for that.
  return denialOf(absent) === 'no-block'
    ? unusable('The nonce of the attempts is used, and the RPC node does not show by which transaction.')
    : absent;
}

const UNEXPLAINED: Observation = { type: 'absent', inMempool: false, nonceTaken: false, isUnexplained: true };

/** The node does not answer to the hashes, and what they hang on is used up: whoever did that has a name. */
async function observeUse(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
  finalizedSlot: bigint,
): Promise<Result<Observation, NodeProblem>> {
  const { hashes, newest } = watched;
  const unusedAt = newest.anchoredAt === undefined ? null : BigInt(newest.anchoredAt);
  const user = await findNonceConsumer(node, { ...slotOf(watched), unusedAt, hashes });
  if (!user.ok) return user;
  if (user.value === null) return accepted(UNEXPLAINED);
  const { hash, slot, failed } = user.value;
  const isFinal = slot <= finalizedSlot;
  // Beyond every fork is beyond every fork here, whatever time it took.
  if (!hashes.includes(hash)) return accepted({ type: 'absent', inMempool: false, nonceTaken: isFinal });
  const status: Status = { slot, failed, commitment: isFinal ? 'finalized' : 'confirmed' };
  const seen = await included(node, chain, { watched, found: { hash, status } });
  // It is named, and the node does not have what it did.
  return seen.ok || seen.refusal.kind === 'no-answer' ? seen : accepted(UNEXPLAINED);
}

/** Believed only where no fork can change it: it ends the attempt, or the transaction. */
async function statusOf(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<At<'waiting' | 'lapsed' | 'taken'>, NodeProblem>> {
  const { newest } = watched;
  const { wallet, anchor } = slotOf(watched);
  // The height first: an account that is not there afterwards was not there at that height.
  const height = anchor.kind === 'opening' ? await node.request(getBlockHeight('finalized')) : null;
  if (height !== null && !height.ok) return height;
  const accounts = await node.request(getAccounts([nonceAccountOf(wallet, anchor.nonceSlot)], 'finalized'));
  if (!accounts.ok) return accounts;
  const { slot } = accounts.value;
  const stored = storedNonce(accounts.value.value[0] ?? null);
  if (anchor.kind === 'nonce') {
    if (stored === null) return unusable('The RPC node does not have the nonce account.');
    if (stored.value === anchor.value) return accepted({ slot, value: 'waiting' });
    // Another value may be one before ours, where the node is behind.
    const lag = newest.anchoredAt === undefined ? 0n : BigInt(newest.anchoredAt) - slot;
    const isBehind = lag > 0n && lag <= maxLagBlocks(chain);
    if (isBehind) return unusable('The RPC node is behind the block in which the nonce was read.');
    return accepted({ slot, value: 'taken' });
  }
  if (stored !== null) return accepted({ slot, value: 'taken' });
  const isOver = newest.validUntil !== null && height !== null && height.value > BigInt(newest.validUntil);
  return accepted({ slot, value: isOver ? 'lapsed' : 'waiting' });
}
