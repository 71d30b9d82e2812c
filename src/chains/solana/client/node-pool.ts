import { clusterOf } from '#chains/solana/rules/cluster.ts';
import { connect } from '#chains/solana/client/rpc-node.ts';
import { getGenesisHash } from '#chains/solana/client/rpc-calls.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';

/**
 * Returns the node pool of one cluster.
 *
 * @param caip2 contains the genesis hash of the cluster
 */
export function solanaNodePool(caip2: string, rpcUrls: readonly string[]): NodePool {
  const cluster = clusterOf(caip2);
  if (cluster === null) throw new Error(`${caip2} is not a Solana cluster.`);
  return { nodes: rpcUrls.map((url) => connect(url)), nodeProblem: (node) => clusterProblem(cluster, node) };
}

async function clusterProblem(cluster: string, node: RpcNode): Promise<NodeProblem | null> {
  const genesis = await node.request(getGenesisHash);
  if (!genesis.ok) return genesis.refusal;
  if (genesis.value.startsWith(cluster)) return null;
  const serves = genesis.value;
  return {
    kind: 'unusable',
    detail: `The RPC node serves the cluster with genesis ${serves}, not ${cluster}.`,
    serves,
  };
}
