import type { HoldingsQuery } from '#chains/rpc/holdings-quorum.ts';
import { covered, NOT_READ } from '#chains/rpc/holdings-quorum.ts';
import type { NodeHoldings } from '#chains/chain-client.ts';
import { finalHeight } from '#chains/bitcoin/rules/depth.ts';
import type { WalletTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { getBalance, getBlockHash, getConfirmedTransactions, getTip, PAGE } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** A wallet with more transactions than this in six blocks is read again later. */
const MAX_PAGES = 10;

/**
 * Returns the holdings of a wallet at the newest block that is beyond any reorg. Servers report
 * only the current sum, so the changes of later blocks are subtracted. Refuses when a block arrives
 * during the request.
 */
export async function holdingsOn(
  node: RpcNode,
  chain: Chain,
  query: HoldingsQuery,
): Promise<Result<NodeHoldings, NodeProblem>> {
  if (query.at !== null) return holdingsAt(node, query, BigInt(query.at));
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  return holdingsAt(node, query, finalHeight(tip.value, chain));
}

async function holdingsAt(
  node: RpcNode,
  { address, assets }: HoldingsQuery,
  height: bigint,
): Promise<Result<NodeHoldings, NodeProblem>> {
  const before = await headOf(node);
  if (!before.ok) return before;
  if (before.value.height < height) return unusable('The RPC node does not have the block yet.');
  const balance = await node.request(getBalance(address));
  if (!balance.ok) return balance;
  const since = await changeSince(node, address, height);
  if (!since.ok) return since;
  const after = await headOf(node);
  if (!after.ok) return after;
  const units = balance.value - since.value;
  if (before.value.hash !== after.value.hash) return unusable('A new block arrived during the request.');
  if (units < 0n) return unusable('The balance and the history of the RPC node do not match.');
  return accepted({
    blockNumber: height.toString(),
    readings: assets.map(({ tokenAddress }) => (tokenAddress === null ? covered(units, height) : NOT_READ)),
  });
}

/** Returns receipts minus payments in the blocks after one. */
async function changeSince(node: RpcNode, address: string, height: bigint): Promise<Result<bigint, NodeProblem>> {
  let [change, last]: [bigint, string | null] = [0n, null];
  for (let page = 0; page < MAX_PAGES; page++) {
    const history: Result<readonly WalletTransfer[], NodeProblem> = await node.request(
      getConfirmedTransactions(address, last),
    );
    if (!history.ok) return history;
    const later = history.value.filter(({ block }) => block !== null && block.height > height);
    for (const transfer of later) change += changeOf(transfer);
    if (history.value.length < PAGE || later.length < history.value.length) return accepted(change);
    last = history.value.at(-1)?.hash ?? null;
  }
  return unusable('The wallet has too many transactions since the block.');
}

function changeOf({ spends, makes }: WalletTransfer): bigint {
  const sum = (list: readonly { readonly amount: bigint }[]) => list.reduce((total, { amount }) => total + amount, 0n);
  return sum(makes) - sum(spends);
}

async function headOf(node: RpcNode): Promise<Result<{ readonly height: bigint; readonly hash: string }, NodeProblem>> {
  const height = await node.request(getTip);
  if (!height.ok) return height;
  const hash = await node.request(getBlockHash(height.value));
  if (!hash.ok) return hash;
  return hash.value === null
    ? unusable('The newest block is no longer available.')
    : accepted({ height: height.value, hash: hash.value });
}
