import type { FeeRates } from '#chains/bitcoin/rules/fee-rate.ts';
import { medianRates } from '#chains/bitcoin/rules/fee-rate.ts';
import { getFeeRates } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE, onEveryNode, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { isBitcoinTestNetwork } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Thousandths in a satoshi. */
const SCALE = 1000n;

/**
 * The number of blocks that a configured rate stands for: the soonest, so that it holds for all
 * speeds.
 */
const SOONEST = 1;

/**
 * Returns the lower median of the fee rates of all servers that have any, so that one wrong server
 * cannot stop a payment or raise its fee. On mainnet a server without rates has just started or is
 * not synchronized, so its silence is no rate. When no server has rates, the chain's configured
 * rate counts. Test networks have empty blocks and no rates.
 */
export async function readFeeRates(pool: NodePool, chain: Chain): Promise<Result<FeeRates, NodeProblem>> {
  const answers = await onEveryNode(pool, (node) => ratesOf(node, chain));
  const known = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  if (known.length > 0) return accepted(medianRates(known));
  if (chain.fallbackFeeRate !== undefined) {
    return accepted(new Map([[SOONEST, BigInt(chain.fallbackFeeRate) * SCALE]]));
  }
  return answers[0] ?? refused(NO_NODE);
}

async function ratesOf(node: RpcNode, { caip2 }: Chain): Promise<Result<FeeRates, NodeProblem>> {
  const rates = await node.request(getFeeRates);
  if (!rates.ok || rates.value.size > 0 || isBitcoinTestNetwork(caip2)) return rates;
  return unusable('The RPC node has no fee rates.');
}
