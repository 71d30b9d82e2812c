import type { Address } from '@solana/kit';
import type { HoldingsQuery } from '#chains/rpc/holdings-quorum.ts';
import { covered, NOT_READ } from '#chains/rpc/holdings-quorum.ts';
import type { NodeHoldings, Reading } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { mintIn, TOKEN_ACCOUNT_HEAD_BYTES, TOKEN_PROGRAMS, tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import type { Account } from '#chains/solana/client/account-answers.ts';
import { getAccounts, getTokenAccounts } from '#chains/solana/client/rpc-calls.ts';
import type { Asset } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** The maximum number of accounts in one call, and so at one slot. */
const MAX_ACCOUNTS = 100;

/**
 * Returns the holdings of a wallet, each at a slot that is beyond every fork. RPC nodes keep no
 * older state, so two nodes answer at two slots: an amount that a payment changes in between counts
 * as not read. A token's amount is the sum of all its accounts that the wallet owns. The mint names
 * the token program of the accounts. A token is not read when the node does not show its mint, or
 * does not list all accounts of that program.
 */
export async function holdingsOn(
  node: RpcNode,
  { address, assets }: HoldingsQuery,
): Promise<Result<NodeHoldings, NodeProblem>> {
  if (!isPublicKey(address)) throw new Error('the address of a wallet is not in canonical form');
  const mints = [...new Set(assets.flatMap(mintOf))].slice(0, MAX_ACCOUNTS - 1);
  const response = await node.request(getAccounts([address, ...mints], 'finalized'));
  if (!response.ok) return response;
  const { slot, value } = response.value;
  const [wallet = null, ...found] = value;
  const programs = new Map(mints.map((mint, i) => [mint, programOf(found[i] ?? null)]));
  const listings = await listingsOf(node, address, new Set(programs.values()));
  const readingOf = (asset: Asset): Reading => {
    if (asset.tokenAddress === null) return covered(wallet?.lamports ?? 0n, slot);
    const [mint] = mintOf(asset);
    const listing = mint === undefined ? undefined : listings.get(programs.get(mint) ?? null);
    return mint === undefined || listing === undefined
      ? NOT_READ
      : covered(listing.units.get(mint) ?? 0n, listing.slot);
  };
  return accepted({ blockNumber: slot.toString(), readings: assets.map(readingOf) });
}

function mintOf({ tokenAddress }: Asset): readonly Address[] {
  return tokenAddress !== null && isPublicKey(tokenAddress) ? [tokenAddress] : [];
}

/** Returns the token program of a mint; null for an account that is no mint. */
function programOf(account: Account | null): Address | null {
  return mintIn(account) === null ? null : (account?.owner ?? null);
}

/** The units of each mint that a wallet has in all accounts of a token program, at one slot. */
interface Listing {
  readonly slot: bigint;
  readonly units: ReadonlyMap<Address, bigint>;
}

/** Returns the listings that the RPC node gives whole. Others are absent. */
async function listingsOf(
  node: RpcNode,
  wallet: Address,
  programs: ReadonlySet<Address | null>,
): Promise<ReadonlyMap<Address | null, Listing>> {
  const requested = TOKEN_PROGRAMS.filter((program) => programs.has(program));
  const read = await Promise.all(
    requested.map(async (program) => {
      const listing = await listingOf(node, wallet, program);
      return listing === null ? [] : [[program, listing] as const];
    }),
  );
  return new Map(read.flat());
}

/**
 * Returns null when the list is not available (a stranger can open any number of accounts for a
 * wallet, so it may be too long) or has an account that cannot be read.
 */
async function listingOf(node: RpcNode, wallet: Address, program: Address): Promise<Listing | null> {
  const options = { commitment: 'finalized', bytes: TOKEN_ACCOUNT_HEAD_BYTES } as const;
  const answer = await node.request(getTokenAccounts(wallet, program, options));
  if (!answer.ok) return null;
  const units = new Map<Address, bigint>();
  for (const { account } of answer.value.value) {
    const held = account.owner === program ? tokenAccountIn(account) : null;
    if (held?.owner !== wallet) return null;
    units.set(held.mint, (units.get(held.mint) ?? 0n) + held.units);
  }
  return { slot: answer.value.slot, units };
}
