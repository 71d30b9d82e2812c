import type { Network } from '#chains/bitcoin/network.ts';
import { connect } from '#chains/bitcoin/node.ts';
import { askBlockHash } from '#chains/bitcoin/question.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';

/** The Esplora servers of one network. */
export function bitcoinFleet(network: Network, urls: readonly string[]): Fleet {
  return { nodes: urls.map((url) => connect(url)), trouble: (node) => networkTrouble(network, node) };
}

async function networkTrouble({ genesis }: Network, node: RpcNode): Promise<Trouble | null> {
  const first = await node.ask(askBlockHash(0n));
  if (!first.ok) return first.refusal;
  if (first.value?.startsWith(genesis) === true) return null;
  return {
    kind: 'unfit',
    detail: `the node serves the network of genesis ${first.value ?? 'unknown'}, not ${genesis}`,
  };
}
