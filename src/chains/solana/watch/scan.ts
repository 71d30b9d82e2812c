import type { Address } from '@solana/kit';
import type { Scan } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { TOKEN_PROGRAMS } from '#chains/solana/client/accounts.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import type { Mention } from '#chains/solana/client/rpc-calls.ts';
import {
  getSignaturesForAddress,
  getSlot,
  getTokenAccounts,
  MAX_SIGNATURES_PER_PAGE,
} from '#chains/solana/client/rpc-calls.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** A day, at about 400 ms per slot: the range without a start slot. */
const RECENT_SLOTS = 216_000n;
/** Pages of one account. Older ones are scanned after these are processed. */
const MAX_PAGES = 5;
/** The accounts of each token program. An attacker can send any number of tokens. */
const MAX_ACCOUNTS = 50;

/**
 * Scans for everything that concerns a wallet: transactions that name it, and transactions that
 * name one of its token accounts (a token payment names the account, not its owner). It returns
 * only hashes; their movements are read as for any hint.
 */
export async function scanCluster(
  node: RpcNode,
  { address, since }: { readonly address: string; readonly since: bigint | null },
): Promise<Result<Scan, NodeProblem>> {
  if (!isPublicKey(address)) throw new Error('a wallet is in canonical form');
  const head = await node.request(getSlot('confirmed'));
  if (!head.ok) return head;
  const least = head.value < RECENT_SLOTS ? 0n : head.value - RECENT_SLOTS;
  const from = since === null ? least : since + 1n;
  const accounts = [address];
  for (const program of TOKEN_PROGRAMS) {
    const owned = await node.request(getTokenAccounts(address, program, { commitment: 'confirmed', bytes: 0 }));
    if (!owned.ok) return owned;
    accounts.push(...owned.value.value.slice(0, MAX_ACCOUNTS).map((one) => one.address));
  }
  const hashes = new Set<string>();
  let oldest = from;
  for (const account of accounts) {
    const found = await mentionsSince(node, account, from);
    if (!found.ok) return found;
    for (const hash of found.value.hashes) hashes.add(hash);
    if (found.value.from > oldest) oldest = found.value.from;
  }
  const range = { fromBlock: oldest.toString(), toBlock: head.value.toString() };
  return accepted({ hashes: [...hashes], tokens: range, payments: range, untraced: 0 });
}

/**
 * Returns the mentions of an account, newest first, page by page. Failed transactions have moved
 * nothing.
 */
async function mentionsSince(
  node: RpcNode,
  account: Address,
  from: bigint,
): Promise<Result<{ readonly hashes: readonly string[]; readonly from: bigint }, NodeProblem>> {
  const hashes: string[] = [];
  let [last, oldest]: [string | null, bigint] = [null, from];
  for (let page = 0; page < MAX_PAGES; page++) {
    const mentions: Result<readonly Mention[], NodeProblem> = await node.request(
      getSignaturesForAddress(account, last),
    );
    if (!mentions.ok) return mentions;
    const recent = mentions.value.filter(({ slot }) => slot >= from);
    hashes.push(...recent.filter(({ failed }) => !failed).map(({ hash }) => hash));
    const isAll = mentions.value.length < MAX_SIGNATURES_PER_PAGE || recent.length < mentions.value.length;
    if (isAll) return accepted({ hashes, from });
    last = mentions.value.at(-1)?.hash ?? null;
    oldest = mentions.value.at(-1)?.slot ?? from;
  }
  return accepted({ hashes, from: oldest });
}
