import { clusterOf } from '#chains/solana/cluster.ts';
import { connect } from '#chains/solana/node.ts';
import { askGenesis } from '#chains/solana/question.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';

/** The nodes of one cluster. @param caip2 which names it by its genesis */
export function solanaFleet(caip2: string, rpcUrls: readonly string[]): Fleet {
  const cluster = clusterOf(caip2);
  if (cluster === null) throw new Error(`${caip2} is no cluster of Solana`);
  return { nodes: rpcUrls.map((url) => connect(url)), trouble: (node) => clusterTrouble(cluster, node) };
}

async function clusterTrouble(cluster: string, node: RpcNode): Promise<Trouble | null> {
  const genesis = await node.ask(askGenesis);
  if (!genesis.ok) return genesis.refusal;
  if (genesis.value.startsWith(cluster)) return null;
  return { kind: 'unfit', detail: `the node serves the cluster of genesis ${genesis.value}, not ${cluster}` };
}
