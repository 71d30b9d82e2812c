import { hexToBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { checkOwnAbsence, denial } from '#chains/rpc/absence-check.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { denialOf, unshown, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { storedNonce } from '#chains/solana/client/accounts.ts';
import { BEHIND_ANCHOR, isBehindAnchor, MAX_LIFETIME } from '#chains/solana/client/durable-nonce.ts';
import { readMined } from '#chains/solana/watch/activity.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { findNonceConsumer } from '#chains/solana/watch/nonce-consumer.ts';
import type { At } from '#chains/solana/client/account-answers.ts';
import type { Status } from '#chains/solana/client/rpc-calls.ts';
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
import { movementsOf } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns the state of a transaction's attempts according to one RPC node: the attempt that
 * succeeded, if one did. It is `lapsed` when none of them can be executed any more and no other
 * transaction replaced them. It is `absent` with the nonce taken when another transaction, which
 * the node names, has used the nonce.
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
  // When all have failed, or their durable nonce is used, no further execution is possible.
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
    // A fork may still remove it: it is neither included nor gone.
    if (watched.inclusion === null) return accepted({ type: 'absent', inMempool: true, nonceTaken: false });
    return unusable('The RPC node does not have the votes for the recorded transaction.');
  }
  const landed = await readMined(node, chain, { hash, status });
  if (!landed.ok) return landed;
  const { block, error, fee, movements } = landed.value;
  if ((error !== null) !== status.failed)
    return unshown('The RPC node reports one transaction as failed and as successful.');
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
 * Handles a failed attempt to open the account when the RPC node does not have the other attempts.
 * It may have failed because another one succeeded: then the account is open. Otherwise it has
 * opened nothing, and the others can still be executed until their blockhashes expire. The failure
 * is conclusive only when all have expired, beyond every fork, and none of them was executed
 * meanwhile.
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

/**
 * Returns the attempts that were executed, including failed ones; at most one has succeeded. The
 * slot is the oldest of all pages.
 */
async function statusesOf(
  node: RpcNode,
  hashes: readonly string[],
): Promise<Result<At<readonly Found[]>, NodeProblem>> {
  const found: Found[] = [];
  let least: bigint | null = null;
  // When an RPC node forwards nothing for hours, there are more attempts than one call may name.
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

/**
 * Several RPC nodes can share one URL, so the node that reports the absence of a transaction must
 * have reached at least the slot of the node that reports its end.
 */
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

/** Returns the attempt that succeeded, or the first that failed; null when none was executed. */
function firstOf(statuses: readonly Found[]): Found | null {
  return statuses.find(({ status }) => !status.failed) ?? statuses[0] ?? null;
}

function slotOf({ from, newest }: WatchedAttempts): { readonly wallet: Address; readonly anchor: DurableNonce } {
  const terms = isPublicKey(from) ? termsIn(hexToBytes(newest.payload.slice(2)), from) : null;
  if (!isPublicKey(from) || terms === null) throw new Error('a stored payload cannot be read');
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
  if (statusOfHash.value.value === 'waiting') return accepted({ ...WAITING, ...lifeOf(watched, statusOfHash.value) });
  // It may have been executed just now, between the two calls.
  const again = await statusesSince(node, watched.hashes, statusOfHash.value.slot);
  if (!again.ok) return again;
  if (again.value.length > 0) return unusable('The transaction appeared during the request.');
  return statusOfHash.value.value === 'lapsed'
    ? accepted({ type: 'lapsed' })
    : observeUse(node, chain, watched, statusOfHash.value.slot);
}

/**
 * Checks the same as `checkOwnAbsence`. When the RPC node no longer shows the recorded block, a
 * later final state in which the nonce of the attempts is unused denies it as well.
 */
async function checkOwnAbsent(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<null, NodeProblem>> {
  const absent = await checkOwnAbsence(node, chain, watched, BLOCK_CALLS);
  const { inclusion } = watched;
  // A failed opening has opened nothing.
  if (absent.ok || inclusion === null || (!inclusion.succeeded && slotOf(watched).anchor.kind === 'opening'))
    return absent;
  const status = await statusOf(node, chain, watched);
  if (!status.ok || status.value.slot < BigInt(inclusion.blockNumber)) return absent;
  if (status.value.value !== 'taken') return denial('The nonce of the attempts is unused in a later final block.');
  // The RPC node's history begins after the slot, so it reports the slot as skipped.
  return denialOf(absent) === 'no-block'
    ? unusable('The nonce of the attempts is used, and the RPC node does not show by which transaction.')
    : absent;
}

const WAITING = { type: 'absent', inMempool: false, nonceTaken: false } as const;
const UNEXPLAINED: Observation = { ...WAITING, isUnexplained: true };

/**
 * Returns the last block that can hold an opening, when the recorded one is too late: no blockhash
 * lives longer, counted from a height that the chain reached after the bytes were signed.
 */
function lifeOf({ newest: { validUntil } }: WatchedAttempts, { height }: NonceStatus): { readonly liveUntil?: string } {
  const most = height === null ? null : height + MAX_LIFETIME;
  return most === null || validUntil === null || BigInt(validUntil) <= most ? {} : { liveUntil: most.toString() };
}

/** Finds the transaction that used the nonce, when the RPC node does not have the hashes. */
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
  // On Solana finality alone is sufficient, whatever its age.
  if (!hashes.includes(hash)) return accepted(isFinal ? { ...WAITING, nonceTaken: true, takenBy: [hash] } : WAITING);
  const status: Status = { slot, failed, commitment: isFinal ? 'finalized' : 'confirmed' };
  const seen = await included(node, chain, { watched, found: { hash, status } });
  // The RPC node names the transaction and does not have its effect.
  return seen.ok || seen.refusal.kind === 'no-answer' ? seen : accepted(UNEXPLAINED);
}

interface NonceStatus extends At<'waiting' | 'lapsed' | 'taken'> {
  /** The final height of the chain; null when no blockhash limits the attempts. */
  readonly height: bigint | null;
}

/**
 * Returns the status of the nonce, only from a state that no fork can change, because it ends the
 * attempt or the transaction.
 */
async function statusOf(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<NonceStatus, NodeProblem>> {
  const { newest } = watched;
  const { wallet, anchor } = slotOf(watched);
  // The height comes first: an account that is missing afterwards was also missing at that height.
  const heightNow = anchor.kind === 'opening' ? await node.request(getBlockHeight('finalized')) : null;
  if (heightNow !== null && !heightNow.ok) return heightNow;
  const height = heightNow?.value ?? null;
  const accounts = await node.request(getAccounts([nonceAccountOf(wallet, anchor.nonceSlot)], 'finalized'));
  if (!accounts.ok) return accounts;
  const { slot } = accounts.value;
  const stored = storedNonce(accounts.value.value[0] ?? null);
  if (anchor.kind === 'nonce') {
    if (stored?.value === anchor.value) return accepted({ slot, height, value: 'waiting' });
    // The different value, or the time without an account, may precede this one.
    if (isBehindAnchor(chain, newest, slot)) return unusable(BEHIND_ANCHOR);
    // An account that does not exist has never had the nonce.
    return accepted({ slot, height, value: stored === null ? 'lapsed' : 'taken' });
  }
  if (stored !== null) return accepted({ slot, height, value: 'taken' });
  const isOver = newest.validUntil !== null && height !== null && height > BigInt(newest.validUntil);
  return accepted({ slot, height, value: isOver ? 'lapsed' : 'waiting' });
}
