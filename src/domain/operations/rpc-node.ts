import type { Chain } from '#domain/asset/chain.ts';
import { alertedLagBlocks } from '#domain/asset/chain.ts';
import type { Alert } from '#domain/operations/alert.ts';

/** What an RPC node can do besides what payments need; null where it is not known. */
export interface NodeAbilities {
  /** It has call traces: without them ether that contracts pay shows late. */
  readonly traces: boolean | null;
  /** It has the state of a block a thousand blocks ago. */
  readonly hasHistory: boolean | null;
}

/** What one RPC node answers to the questions of a probe. */
export interface NodeProbe {
  /** Host and port. */
  readonly host: string;
  /** The newest number; null when it is not known. */
  readonly head: bigint | null;
  /** The blocks behind the other nodes; null when that is not known. */
  readonly lag: bigint | null;
  /** The chain that it serves, where that is another one; otherwise null. */
  readonly otherChain: string | null;
  /** The fault of a node that gives no usable answer, without keys; otherwise null. */
  readonly error: string | null;
  /**
   * The hash of the block that all nodes are compared at; null for a node that has none there, and
   * undefined when the call was not sent, or had no answer.
   */
  readonly hash: string | null | undefined;
  /** Absent on chains without such differences. */
  readonly abilities?: NodeAbilities;
}

/** Why an RPC node is not used as it is configured, or what an operator must compare. */
export const RPC_NODE_FAULTS = ['unusable', 'other-chain', 'behind', 'differs'] as const;
type RpcNodeFault = (typeof RPC_NODE_FAULTS)[number];

/** The state of one RPC node at its last probe. */
export interface RpcNodeState extends NodeAbilities {
  /** The name of the chain. */
  readonly chain: string;
  /** The place in RPC_URLS, from 0. */
  readonly position: number;
  /** Host and port. */
  readonly host: string;
  readonly checkedAtMs: number;
  /** The newest number of the chain, in decimal digits; null when it is not known. */
  readonly head: string | null;
  /** The blocks behind the other nodes, in decimal digits; null when it is not known. */
  readonly lagBlocks: string | null;
  /** The chain that it serves instead, as the node names it; null when it serves the right one. */
  readonly otherChain: string | null;
  readonly fault: RpcNodeFault | null;
  /** What the node answered, or did not, without keys; null when all answers can be used. */
  readonly error: string | null;
}

/** Everything about RPC nodes that alerts depend on. */
export interface RpcHealth {
  readonly nodes: readonly RpcNodeState[];
  /** The chains with a wallet and without a configured RPC node. */
  readonly nodelessChains: readonly string[];
  /** The chains with one configured RPC node. */
  readonly singleNodeChains: readonly string[];
  /** The chains on which a vault has money. */
  readonly fundedChains: readonly string[];
}

const ALERTS: Readonly<Record<RpcNodeFault, { readonly code: Alert['code']; readonly text: string }>> = {
  unusable: { code: 'rpc-node-away', text: 'gives no usable answer' },
  behind: { code: 'rpc-node-behind', text: 'is behind the others, or the others are wrong' },
  differs: { code: 'rpc-nodes-differ', text: 'state different blocks at one number, deep below the newest one' },
  'other-chain': { code: 'rpc-node-other-chain', text: 'serves another chain' },
};

/** Returns the alerts of RPC nodes, in the order of ALERT_CODES: one for each node at fault. */
export function alertsOfRpcNodes(health: RpcHealth): readonly Alert[] {
  const { nodes, nodelessChains, singleNodeChains, fundedChains } = health;
  return [
    ...RPC_NODE_FAULTS.flatMap((fault): readonly Alert[] => {
      const faulty = nodes.filter((node) => node.fault === fault);
      if (fault === 'differs') return [...Map.groupBy(faulty, ({ chain }) => chain)].map(differing);
      const { code, text } = ALERTS[fault];
      return faulty.map(({ chain, host }) => ({
        code,
        subject: `${chain} ${host}`,
        detail: `RPC node ${host} of ${chain} ${text}.`,
      }));
    }),
    ...nodelessChains.map((chain) => ({
      code: 'chain-without-node' as const,
      subject: chain,
      detail: `RPC_URLS has no RPC node of ${chain}, and vaults have wallets there.`,
    })),
    ...singleNodeChains
      .filter((chain) => fundedChains.includes(chain))
      .map((chain) => ({
        code: 'single-rpc-node' as const,
        subject: chain,
        detail: `Vaults have money on ${chain}, and one RPC node decides alone.`,
      })),
  ];
}

/** It is not known which of the nodes is wrong, so that one alert names all of the chain. */
function differing([chain, nodes]: readonly [string, readonly RpcNodeState[]]): Alert {
  const { code, text } = ALERTS.differs;
  const hosts = nodes.map(({ host }) => host).join(', ');
  return { code, subject: chain, detail: `RPC nodes of ${chain} ${text}: ${hosts}.` };
}

/** The length up to which the text of an RPC node is stored. */
const MAX_TEXT = 200;

/** Returns what the answers of all RPC nodes of a chain mean for each of them, in their order. */
export function judgedNodes(
  chain: Pick<Chain, 'name' | 'family' | 'pollIntervalMs'>,
  probes: readonly NodeProbe[],
  checkedAtMs: number,
): readonly RpcNodeState[] {
  const hashes = new Set(probes.flatMap(({ hash }) => (hash === undefined ? [] : [hash])));
  const faultOf = ({ otherChain, error, lag, hash }: NodeProbe): RpcNodeFault | null => {
    if (otherChain !== null) return 'other-chain';
    if (error !== null) return 'unusable';
    if (lag !== null && lag > alertedLagBlocks(chain)) return 'behind';
    return hashes.size > 1 && hash !== undefined ? 'differs' : null;
  };
  return probes.map((probe, position) => ({
    chain: chain.name,
    position,
    host: probe.host,
    checkedAtMs,
    head: probe.head?.toString() ?? null,
    lagBlocks: probe.lag?.toString() ?? null,
    otherChain: probe.otherChain?.slice(0, MAX_TEXT) ?? null,
    fault: faultOf(probe),
    error: probe.error?.slice(0, MAX_TEXT) ?? null,
    traces: probe.abilities?.traces ?? null,
    hasHistory: probe.abilities?.hasHistory ?? null,
  }));
}
