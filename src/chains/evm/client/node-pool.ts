import { connect } from '#chains/evm/client/rpc-node.ts';
import { getChainId } from '#chains/evm/client/rpc-calls.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';

/** The node pool of one EVM chain. */
export interface EvmNodePool extends NodePool {
  readonly chainId: bigint;
}

export function evmNodePool(chainId: bigint, rpcUrls: readonly string[]): EvmNodePool {
  return { chainId, nodes: rpcUrls.map((url) => connect(url)), nodeProblem: (node) => chainProblem(chainId, node) };
}

async function chainProblem(chainId: bigint, node: RpcNode): Promise<NodeProblem | null> {
  const served = await node.request(getChainId);
  if (!served.ok) return served.refusal;
  if (served.value === chainId) return null;
  const serves = String(served.value);
  return { kind: 'unusable', detail: `The RPC node serves chain ${serves}, not ${chainId}.`, serves };
}
