import { hexToBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { blockhash } from '@solana/kit';
import type { NonceSlot } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { storedNonce } from '#chains/solana/client/accounts.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import type { CurrentNonce } from '#chains/solana/rules/compose.ts';
import { getAccounts, getBlockHeight, getLatestBlockhash, getMinimumRent } from '#chains/solana/client/rpc-calls.ts';
import type { DurableNonce } from '#chains/solana/rules/payment-terms.ts';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { termsIn } from '#chains/solana/rules/transaction.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

const NONCE_BYTES = 80;

/**
 * The lifetime of a blockhash in blocks (Agave: MAX_PROCESSING_AGE), plus the same number for
 * differences between RPC nodes behind one URL.
 */
export const MAX_LIFETIME = 300n;

/**
 * Returns what two RPC nodes report about the durable nonce of an attempt; null when they
 * contradict each other. The result has the older of the two slots, and the first one's blockhash,
 * because each node reports its own newest one.
 */
export function joinedNonce(one: CurrentNonce, other: CurrentNonce): CurrentNonce | null {
  const slot = one.slot < other.slot ? one.slot : other.slot;
  if (one.anchor.kind === 'nonce') return isSame(one.anchor, other.anchor) ? { ...one, slot } : null;
  const isOpening = other.anchor.kind === 'opening' && one.anchor.rent === other.anchor.rent;
  const lives = (one.validUntil ?? 0n) - (other.validUntil ?? 0n);
  return isOpening && lives <= MAX_LIFETIME ? { ...one, slot } : null;
}

/**
 * Returns what the bytes of an attempt depend on: the durable nonce of the transaction's nonce
 * slot, or its opening. A further attempt depends on the same, so that only one of them is ever
 * executed. When the nonce is used, another attempt has been executed, and no further one is
 * needed.
 *
 * An earlier attempt may depend on a nonce whose account does not exist, after a false answer. Then
 * the account is opened: its nonce comes from a later block, so the earlier attempt is never
 * executed after this one, and this one never while the account exists.
 */
export async function currentNonce(
  node: RpcNode,
  chain: Chain,
  { from, nonce, replaced, predecessors = [] }: NonceSlot,
): Promise<Result<CurrentNonce, NodeProblem>> {
  if (!isPublicKey(from)) throw new Error('a stored intent is not in canonical form');
  const nonceSlot = Number.parseInt(nonce.toString(), 10);
  const accounts = await node.request(getAccounts([nonceAccountOf(from, nonceSlot)]));
  if (!accounts.ok) return accounts;
  const { slot } = accounts.value;
  const account = accounts.value.value[0] ?? null;
  const stored = storedNonce(account);
  if (stored !== null && stored.authority !== from) return unusable('The nonce account belongs to another wallet.');
  if (stored === null && account !== null && account.data.length > 0)
    return unusable('The nonce account has no nonce.');
  const before = replaced === null ? null : anchorIn(replaced.payload, from);
  const earlier = predecessors.map((payload) => anchorIn(payload, from));
  if (stored !== null) {
    const anchor: DurableNonce = { kind: 'nonce', nonceSlot, value: stored.value };
    if (before !== null && !isSame(before, anchor)) return unusable('An earlier attempt has used the nonce.');
    if (earlier.some((one) => one !== null && isSame(one, anchor)))
      return unusable('An earlier payment has not used its nonce yet.');
    return accepted({ anchor, slot, validUntil: null });
  }
  if (earlier.length > 0) return unusable('An earlier payment has not opened the nonce account yet.');
  if (before?.kind === 'nonce' && isBehindAnchor(chain, replaced, slot)) return unusable(BEHIND_ANCHOR);
  const [latest, rent, height] = await Promise.all([
    node.request(getLatestBlockhash),
    node.request(getMinimumRent(NONCE_BYTES)),
    node.request(getBlockHeight('confirmed')),
  ]);
  if (!latest.ok) return latest;
  if (!rent.ok) return rent;
  if (!height.ok) return height;
  if (latest.value.lastHeight > height.value + MAX_LIFETIME)
    return unusable('The lifetime of the blockhash is impossibly long.');
  return accepted({
    anchor: { kind: 'opening', nonceSlot, blockhash: blockhash(latest.value.blockhash), rent: rent.value },
    slot,
    validUntil: latest.value.lastHeight,
  });
}

export const BEHIND_ANCHOR = 'The RPC node is behind the block in which the nonce was read.';

/**
 * Reports whether a state precedes the one in which an attempt's nonce was read. A false slot may
 * be far ahead of the chain; no RPC node lags that far, and it is not waited for.
 */
export function isBehindAnchor(chain: Chain, attempt: Pick<Attempt, 'anchoredAt'> | null, slot: bigint): boolean {
  const lag = attempt?.anchoredAt === undefined ? 0n : BigInt(attempt.anchoredAt) - slot;
  return lag > 0n && lag <= maxLagBlocks(chain);
}

function anchorIn(payload: string, from: Address): DurableNonce | null {
  return termsIn(hexToBytes(payload.slice(2)), from)?.anchor ?? null;
}

function isSame(before: DurableNonce, now: DurableNonce): boolean {
  return (
    before.kind === 'nonce' && now.kind === 'nonce' && before.nonceSlot === now.nonceSlot && before.value === now.value
  );
}
