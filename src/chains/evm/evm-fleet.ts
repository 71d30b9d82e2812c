import { connect } from '#chains/evm/node.ts';
import { askChainId } from '#chains/evm/question.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';

/** The nodes of one EVM chain. */
export interface EvmFleet extends Fleet {
  readonly chainId: bigint;
}

export function evmFleet(chainId: bigint, rpcUrls: readonly string[]): EvmFleet {
  return { chainId, nodes: rpcUrls.map((url) => connect(url)), trouble: (node) => chainTrouble(chainId, node) };
}

async function chainTrouble(chainId: bigint, node: RpcNode): Promise<Trouble | null> {
  const served = await node.ask(askChainId);
  if (!served.ok) return served.refusal;
  if (served.value === chainId) return null;
  return { kind: 'unfit', detail: `the node serves chain ${served.value}, not ${chainId}` };
}
