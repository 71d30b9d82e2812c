import type { Address } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { HoldingsQuery } from '#chains/rpc/holdings-quorum.ts';
import type { Holdings } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import { getAccounts, getTokenAccounts } from '#chains/solana/client/rpc-calls.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Asset } from '#domain/activity/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** The maximum number of accounts in one call, and so at one slot. */
const MAX_ACCOUNTS = 100;

/**
 * Returns the holdings of a wallet, all at one slot that is beyond every fork. RPC nodes keep no
 * older state, so two nodes answer at two slots: an amount that a payment changes in between counts
 * as not reported. A token's amount is the sum of all its accounts that the wallet owns.
 */
export async function holdingsOn(
  node: RpcNode,
  { address, assets }: HoldingsQuery,
): Promise<Result<Holdings, NodeProblem>> {
  if (!isPublicKey(address)) throw new Error('a wallet is in canonical form');
  const requested = new Set(assets.flatMap(({ tokenAddress }) => tokenAddress ?? []));
  const owned =
    requested.size === 0 ? null : await node.request(getTokenAccounts(address, TOKEN_PROGRAM_ADDRESS, 'finalized'));
  if (owned !== null && !owned.ok) return owned;
  const accounts = (owned?.value ?? []).filter(({ mint }) => requested.has(mint)).slice(0, MAX_ACCOUNTS - 1);
  const response = await node.request(getAccounts([address, ...accounts.map((one) => one.address)], 'finalized'));
  if (!response.ok) return response;
  const [wallet = null, ...tokens] = response.value.value;
  const held = new Map<Address, bigint>();
  for (const token of tokens.map(tokenAccountIn)) {
    // An account may have been closed, or its owner changed, since it was listed.
    if (token?.owner === address) held.set(token.mint, (held.get(token.mint) ?? 0n) + token.units);
  }
  const unitsHeld = ({ tokenAddress }: Asset): bigint => {
    if (tokenAddress === null) return wallet?.lamports ?? 0n;
    return isPublicKey(tokenAddress) ? (held.get(tokenAddress) ?? 0n) : 0n;
  };
  return accepted({
    blockNumber: response.value.slot.toString(),
    amounts: assets.map((asset) => amountOf(unitsHeld(asset))),
    isDisputed: false,
  });
}
