import type { Address } from '@solana/kit';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { isUnread } from '#chains/rpc/node-pool.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Mention } from '#chains/solana/client/rpc-calls.ts';
import {
  getLifetime,
  getSignaturesForAddress,
  getTransaction,
  MAX_SIGNATURES_PER_PAGE,
  unreadVersion,
} from '#chains/solana/client/rpc-calls.ts';
import type { DurableNonce } from '#chains/solana/rules/payment-terms.ts';
import { nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

export interface NonceQuery {
  readonly wallet: Address;
  readonly anchor: DurableNonce;
  /** A slot at which the nonce was not used; null when none is known. */
  readonly unusedAt: bigint | null;
  /** The hashes of the attempts that depend on the anchor. */
  readonly hashes: readonly string[];
}

/** For a wallet that pays a thousand times a day this covers some days. */
const MAX_PAGES = 5;
/** Anyone can name a nonce account, so at most this many candidates are read, the oldest first. */
const MAX_CANDIDATES = 20;

/**
 * Returns the transaction that used a durable nonce, or opened its account; null when the RPC node
 * does not show it. It names the account. It is one of the attempts by its hash, or another
 * transaction whose own bytes depend on the nonce, or that created the account.
 */
export async function findNonceConsumer(
  node: RpcNode,
  request: NonceQuery,
): Promise<Result<Mention | null, NodeProblem>> {
  const { wallet, anchor, hashes } = request;
  const account = nonceAccountOf(wallet, anchor.nonceSlot);
  const mentions = await mentionsSince(node, account, request.unusedAt);
  if (!mentions.ok) return mentions;
  const own = mentions.value.find(({ hash, failed }) => hashes.includes(hash) && isUse(anchor, failed));
  if (own !== undefined) return accepted(own);
  for (const mention of mentions.value.toReversed().slice(0, MAX_CANDIDATES)) {
    if (!isUse(anchor, mention.failed)) continue;
    const used = anchor.kind === 'nonce' ? usesNonce(node, mention, anchor.value) : opens(node, mention, account);
    const answer = await used;
    // A stranger can name the account in a transaction of a later version. It explains nothing.
    if (!answer.ok && !isUnread(unreadVersion(answer.refusal))) return answer;
    if (answer.ok && answer.value) return accepted(mention);
  }
  return accepted(null);
}

/**
 * Reports whether a transaction used the anchor. A failed one still uses its durable nonce, and
 * opens nothing.
 */
function isUse({ kind }: DurableNonce, failed: boolean): boolean {
  return kind === 'nonce' || !failed;
}

/** Returns the mentions of the account, newest first. */
async function mentionsSince(
  node: RpcNode,
  account: Address,
  slot: bigint | null,
): Promise<Result<readonly Mention[], NodeProblem>> {
  const found: Mention[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const mentions = await node.request(getSignaturesForAddress(account, found.at(-1)?.hash ?? null));
    if (!mentions.ok) return mentions;
    found.push(...mentions.value);
    const oldest = mentions.value.at(-1);
    if (oldest === undefined || mentions.value.length < MAX_SIGNATURES_PER_PAGE) break;
    if (slot !== null && oldest.slot < slot) break;
  }
  return accepted(found.filter((mention) => slot === null || mention.slot >= slot));
}

async function usesNonce(node: RpcNode, { hash }: Mention, value: string): Promise<Result<boolean, NodeFault>> {
  const lifetime = await node.request(getLifetime(hash));
  return lifetime.ok ? accepted(lifetime.value === value) : lifetime;
}

/**
 * Reports whether a transaction opened the account, which held nothing before it. This does not
 * detect an account that had already received lamports, and no other check does.
 */
async function opens(node: RpcNode, { hash }: Mention, account: Address): Promise<Result<boolean, NodeFault>> {
  const landed = await node.request(getTransaction(hash, 'confirmed'));
  if (!landed.ok) return landed;
  const at = landed.value?.accounts.indexOf(account) ?? -1;
  return accepted(landed.value?.lamportsBefore[at] === 0n && (landed.value.lamportsAfter[at] ?? 0n) > 0n);
}
