import type { Network } from '#chains/bitcoin/rules/network.ts';
import { connect } from '#chains/bitcoin/client/rpc-node.ts';
import { getBlockHash } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';

/** Returns the node pool of one network's Esplora servers. */
export function bitcoinNodePool(network: Network, urls: readonly string[]): NodePool {
  return { nodes: urls.map((url) => connect(url)), nodeProblem: (node) => networkProblem(network, node) };
}

async function networkProblem({ genesis }: Network, node: RpcNode): Promise<NodeProblem | null> {
  const first = await node.request(getBlockHash(0n));
  if (!first.ok) return first.refusal;
  if (first.value?.startsWith(genesis) === true) return null;
  const serves = first.value ?? 'unknown';
  return {
    kind: 'unusable',
    detail: `The RPC node serves the network with genesis ${serves}, not ${genesis}.`,
    serves,
  };
}
