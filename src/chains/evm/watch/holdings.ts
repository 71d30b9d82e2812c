import type { Address, Hex } from 'viem';
import { getAddress } from 'viem/utils';
import { BALANCE_OF_SELECTOR, OWNER_OF_SELECTOR } from '#chains/evm/rules/call.ts';
import { revertReason } from '#chains/evm/client/revert.ts';
import type { HoldingsQuery } from '#chains/rpc/holdings-quorum.ts';
import { covered, NOT_READ } from '#chains/rpc/holdings-quorum.ts';
import type { NodeHoldings, Reading } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { word } from '#chains/evm/rules/hex.ts';
import { getBalanceAt, getBlock, ethCall } from '#chains/evm/client/rpc-calls.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { Asset } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** `supportsInterface(0x80ac58cd)`: ERC-165, with the id of ERC-721. */
const IS_ERC721: Hex = `0x01ffc9a7${'80ac58cd'.padEnd(64, '0')}`;

/** First four bytes of keccak256('balanceOf(address,uint256)'), ERC-1155. */
const BALANCE_OF_ID_SELECTOR = '0x00fdd58e';

/**
 * Returns the holdings of a wallet, all at one block: the newest one that has the chain's
 * confirmations. A reorg may still remove later ones, and most RPC nodes have no state of much
 * older ones.
 */
export async function holdingsOn(
  node: RpcNode,
  chain: Chain,
  query: HoldingsQuery,
): Promise<Result<NodeHoldings, NodeProblem>> {
  if (query.at !== null) return holdingsAt(node, chain, { ...query, blockNumber: BigInt(query.at) });
  const head = await node.request(getBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return unusable('The RPC node has no newest block.');
  const depth = head.value.number - BigInt(chain.confirmations) + 1n;
  return holdingsAt(node, chain, { ...query, blockNumber: depth < 0n ? 0n : depth });
}

async function holdingsAt(
  node: RpcNode,
  chain: Chain,
  { address, assets, blockNumber }: HoldingsQuery & { readonly blockNumber: bigint },
): Promise<Result<NodeHoldings, NodeProblem>> {
  const held = await Promise.all(assets.map((asset) => readingOf(node, chain, { address, asset, blockNumber })));
  const readings: Reading[] = [];
  for (const reading of held) {
    if (!reading.ok) return reading;
    readings.push(reading.value);
  }
  return accepted({ blockNumber: blockNumber.toString(), readings });
}

interface Held {
  readonly address: string;
  readonly asset: Asset;
  readonly blockNumber: bigint;
}

/**
 * Returns what a token states, also where it fails: one token must not prevent the reading of the
 * others. A call that the RPC node stops or refuses by itself says nothing about the token. The
 * native balance is always available: an RPC node that does not return it is unusable.
 */
async function readingOf(
  node: RpcNode,
  chain: Chain,
  { address, asset, blockNumber }: Held,
): Promise<Result<Reading, NodeProblem>> {
  if (asset.tokenAddress === null) {
    const balance = await node.request(getBalanceAt(address, blockNumber));
    return balance.ok ? accepted(covered(balance.value, blockNumber)) : balance;
  }
  const call = { to: getAddress(asset.tokenAddress), value: 0n, data: callOf(asset, address) };
  const answer = await node.request(ethCall(address, call, blockNumber));
  if (!answer.ok && revertReason(answer.refusal) === null) return accepted(NOT_READ);
  if (!answer.ok || answer.value.length !== 2 + 64) return accepted({ state: 'no-balance' });
  const returned = BigInt(answer.value);
  const mayCountIds = asset.kind === 'erc20' && returned > 0n && listedToken(chain, asset.tokenAddress) === null;
  if (mayCountIds && (await isErc721(node, { to: call.to, blockNumber }))) return accepted({ state: 'no-balance' });
  const units = asset.kind === 'erc721' ? (returned === BigInt(address) ? 1n : 0n) : returned;
  return accepted(covered(units, blockNumber));
}

/**
 * Reports whether a contract states that it is an ERC-721 collection: its `balanceOf` is a number
 * of ids, and records have the ids.
 */
async function isErc721(
  node: RpcNode,
  { to, blockNumber }: { readonly to: Address; readonly blockNumber: bigint },
): Promise<boolean> {
  const answer = await node.request(ethCall(to, { to, value: 0n, data: IS_ERC721 }, blockNumber));
  return answer.ok && answer.value === `0x${word(1n)}`;
}

function callOf({ kind, tokenId }: Asset, address: string): Hex {
  const [wallet, id] = [word(BigInt(address)), word(BigInt(tokenId ?? '0'))];
  if (kind === 'erc721') return `${OWNER_OF_SELECTOR}${id}`;
  if (kind === 'erc1155') return `${BALANCE_OF_ID_SELECTOR}${wallet}${id}`;
  return `${BALANCE_OF_SELECTOR}${wallet}`;
}
