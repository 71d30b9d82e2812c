import type { EvmNode, NodeFault } from '#chains/evm/node.ts';
import { askChainId } from '#chains/evm/question.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';

/** The operator's nodes of one chain, in order of preference. */
export interface Fleet {
  readonly chainId: bigint;
  readonly nodes: readonly EvmNode[];
}

/** `unfit`: the node answers, but what it says cannot be used: it serves another chain, or lags behind. */
export type Trouble = NodeFault | { readonly kind: 'unfit'; readonly detail: string };

export const NO_NODE: Trouble = { kind: 'unfit', detail: 'no node is configured for this chain' };

/** A refusal that more questions to the same node cannot mend. */
export interface Settled {
  readonly kind: 'permanent';
}

/**
 * Runs an operation against the first node that can carry it out. A whole operation runs against ONE node, so that a receipt and
 * a head never come from two views of the chain; with trouble it runs again, from its beginning, against the next. A permanent
 * refusal ends a transaction, so it too counts only when no other node sees it otherwise: one that is hours behind finds every
 * wallet empty.
 *
 * The chain id is asked each time: a URL that was changed to another network by mistake must never price, and so never lead
 * to, a signature.
 */
export async function onFirstFitNode<T, R extends Settled>(
  fleet: Fleet,
  operation: (node: EvmNode) => Promise<Result<T, R | Trouble>>,
): Promise<Result<T, R | Trouble>> {
  let trouble: Trouble = NO_NODE;
  let ended: R | Trouble | null = null;
  for (const node of fleet.nodes) {
    const unfit = await chainTrouble(fleet, node);
    if (unfit !== null) {
      trouble = unfit;
      continue;
    }
    const result = await operation(node);
    if (result.ok) return result;
    if (result.refusal.kind === 'permanent') ended ??= result.refusal;
    else trouble = result.refusal;
  }
  return refused(ended ?? trouble);
}

/** Null when the node serves the fleet's chain. */
export async function chainTrouble(fleet: Fleet, node: EvmNode): Promise<Trouble | null> {
  const served = await node.ask(askChainId);
  if (!served.ok) return served.refusal;
  if (served.value === fleet.chainId) return null;
  return { kind: 'unfit', detail: `the node serves chain ${served.value}, not ${fleet.chainId}` };
}
