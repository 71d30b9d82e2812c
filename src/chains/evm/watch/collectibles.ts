import type { Hex } from 'viem';
import { getAddress } from 'viem/utils';
import { readContractAt } from '#chains/evm/client/rpc-calls.ts';
import { OWNER_OF_SELECTOR } from '#chains/evm/rules/call.ts';
import { word } from '#chains/evm/rules/hex.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';

/** A transaction of a stranger can move any number of tokens. */
const MAX_TOKENS = 20;

/**
 * Returns the movements with the collectibles from before ERC-721 as such. Their logs have the id
 * in the place of an amount, as those of ERC-20. The contract names the recipient as the owner of
 * the id; an ERC-20 token has no such function. A contract that does not answer stays ERC-20.
 */
export async function withCollectibles(
  node: RpcNode,
  movements: readonly ChainMovement[],
  { chain, block }: { readonly chain: Pick<Chain, 'tokens'>; readonly block: bigint },
): Promise<readonly ChainMovement[]> {
  const samples = new Map<string, ChainMovement>();
  for (const one of movements) {
    const { kind, tokenAddress, to } = one;
    if (kind !== 'erc20' || tokenAddress === null || to === null || listedToken(chain, tokenAddress) !== null) continue;
    // The last recipient is the owner at the end of the block, and a broker before it is not.
    if (samples.has(tokenAddress) || samples.size < MAX_TOKENS) samples.set(tokenAddress, one);
  }
  const checked = await Promise.all(
    [...samples].map(async ([tokenAddress, { amount, to }]) => {
      const data: Hex = `${OWNER_OF_SELECTOR}${word(BigInt(amount))}`;
      const owner = await node.request(readContractAt(getAddress(tokenAddress), data, block));
      return owner.ok && to !== null && owner.value === `0x${word(BigInt(to))}` ? [tokenAddress] : [];
    }),
  );
  const collections = new Set(checked.flat());
  return movements.map((one) =>
    one.kind === 'erc20' && one.tokenAddress !== null && collections.has(one.tokenAddress)
      ? { ...one, kind: 'erc721', tokenId: one.amount, amount: amountOf(1n) }
      : one,
  );
}
