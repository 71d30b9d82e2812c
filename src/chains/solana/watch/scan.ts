import type { Address } from '@solana/kit';
import type { Scan } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { TOKEN_ACCOUNT_HEAD_BYTES, TOKEN_PROGRAMS, tokenAccountIn } from '#chains/solana/client/accounts.ts';
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
/** The token accounts of one scan. A stranger can open any number of them. */
const MAX_ACCOUNTS = 100;

interface ScanRequest {
  readonly address: string;
  readonly since: bigint | null;
  /** The tokens whose accounts are read first. */
  readonly first: readonly string[];
}

/**
 * Scans for everything that concerns a wallet: transactions that name it, and transactions that
 * name one of its token accounts (a token payment names the account, not its owner). It returns
 * only hashes; their movements are read as for any hint. When the wallet has more token accounts
 * than one scan reads, those of the first tokens are read, and no range of tokens counts as
 * scanned.
 */
export async function scanCluster(
  node: RpcNode,
  { address, since, first }: ScanRequest,
): Promise<Result<Scan, NodeProblem>> {
  if (!isPublicKey(address)) throw new Error('the address of a wallet is not in canonical form');
  const head = await node.request(getSlot('confirmed'));
  if (!head.ok) return head;
  const least = head.value < RECENT_SLOTS ? 0n : head.value - RECENT_SLOTS;
  const from = since === null ? least : since + 1n;
  const owned = await tokenAccountsOf(node, { wallet: address, first });
  if (!owned.ok) return owned;
  const accounts = [address, ...owned.value.slice(0, MAX_ACCOUNTS)];
  const hashes = new Set<string>();
  let oldest = from;
  for (const account of accounts) {
    const found = await mentionsSince(node, account, from);
    if (!found.ok) return found;
    for (const hash of found.value.hashes) hashes.add(hash);
    if (found.value.from > oldest) oldest = found.value.from;
  }
  const range = { fromBlock: oldest.toString(), toBlock: head.value.toString() };
  const requested = { ...range, fromBlock: from.toString() };
  const none = { ...range, fromBlock: (head.value + 1n).toString() };
  const tokens = owned.value.length > MAX_ACCOUNTS ? none : range;
  return accepted({ hashes: [...hashes], requested, tokens, payments: range, untraced: 0 });
}

/** Returns the token accounts of a wallet, those of the first tokens first. */
async function tokenAccountsOf(
  node: RpcNode,
  { wallet, first }: { readonly wallet: Address; readonly first: readonly string[] },
): Promise<Result<readonly Address[], NodeProblem>> {
  const ranks = new Map([...first].toReversed().map((token, i) => [token, i]));
  const found: { readonly account: Address; readonly rank: number }[] = [];
  for (const program of TOKEN_PROGRAMS) {
    const options = { commitment: 'confirmed', bytes: TOKEN_ACCOUNT_HEAD_BYTES } as const;
    const owned = await node.request(getTokenAccounts(wallet, program, options));
    if (!owned.ok) return owned;
    for (const { address: account, account: content } of owned.value.value) {
      found.push({ account, rank: ranks.get(tokenAccountIn(content)?.mint ?? '') ?? -1 });
    }
  }
  return accepted(found.toSorted((one, other) => other.rank - one.rank).map(({ account }) => account));
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
    // The next page may begin in the same slot.
    oldest = (mentions.value.at(-1)?.slot ?? from) + 1n;
  }
  return accepted({ hashes, from: oldest });
}
