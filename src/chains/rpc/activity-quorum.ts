import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { denialOf, NO_NODE, onEveryNode, reachedByTwo, unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ReadTransaction } from '#chains/chain-client.ts';
import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

type Answer = Result<ReadTransaction | null, NodeProblem>;
type Mined = ReadTransaction & { readonly block: ActivityBlock };

/**
 * Returns an inbound transaction according to all configured RPC nodes. It is proven when two nodes
 * report the same block, signer and movements, at the smaller depth and finality. What only one of
 * several nodes reports has no confirmations, because a single node is not trusted with a receipt,
 * and is a fault when it is about the recorded block. Returns null when no node that answers has
 * it, or every one of them denies the recorded block.
 *
 * @param found the recorded block, or null
 */
export async function activityFromPool(
  pool: NodePool,
  found: ActivityBlock | null,
  read: (node: RpcNode) => Promise<Answer>,
): Promise<Result<ReadTransaction | null, ChainFault>> {
  const answers = await onEveryNode(pool, read);
  const seen = answers.flatMap((answer) => (answer.ok && answer.value !== null ? [answer.value] : []));
  const mined = seen.filter((one): one is Mined => one.block !== null);
  if (mined.length > 0) {
    const first = mined[0] ?? null;
    return pool.nodes.length === 1 ? accepted(first) : asChainFault(provenOf(mined, found));
  }
  const isGone = answers.some((answer) => (answer.ok ? answer.value === null : denialOf(answer) !== null));
  if (seen.length > 0 || isGone) return accepted(seen[0] ?? null);
  return asChainFault(answers.find((answer) => !answer.ok) ?? refused(NO_NODE));
}

function provenOf(mined: readonly Mined[], found: ActivityBlock | null): Answer {
  const sameAs = ({ block }: Mined) => mined.filter((one) => isSame(one.block, block));
  const groups = mined.map(sameAs);
  const group =
    groups.find(({ length }) => length > 1) ?? groups.find(([one]) => one && isSame(one.block, found)) ?? groups[0];
  if (group === undefined) return accepted(null);
  const alike = [...Map.groupBy(group, contentsOf).values()];
  const agreeing = alike.find(({ length }) => length > 1) ?? [];
  // An RPC node that traces calls shows more of the same block than one that does not.
  const shown = agreeing.length === 0 ? group : agreeing;
  const fullest = shown.toSorted((a, b) => b.movements.length - a.movements.length)[0];
  if (fullest === undefined) return accepted(null);
  // The record of this block may be proven, and what one node states now must not replace it.
  if (agreeing.length === 0 && isSame(fullest.block, found)) return UNPROVEN;
  const confirmations = reachedByTwo(agreeing.map(({ block }) => block.confirmations)) ?? 0;
  const isFinal = agreeing.filter(({ block }) => block.isFinal).length > 1;
  const block = { ...fullest.block, confirmations, isFinal };
  return accepted({ ...transactionIn({ ...fullest, block }), ...tracesOf(group) });
}

const UNPROVEN = unusable('No two RPC nodes state the same contents of the recorded block.');

/**
 * Returns what every RPC node states alike about one block: signer and movements, in any order. Not
 * the payments by contracts, which only some nodes trace, and not the fee, which some clients
 * report without the part for the data of a rollup. A collectible from before ERC-721 has its id as
 * its amount where a node does not have the state that shows the difference.
 */
function contentsOf({ signer, movements }: Mined): string {
  const lines = movements
    .filter(({ kind }) => kind !== 'internal')
    .map(({ uid, kind, tokenAddress, tokenId, from, to, amount }) => {
      const units = kind === 'erc721' ? [tokenId, null] : [amount, tokenId];
      return JSON.stringify([uid, tokenAddress, from, to, ...units]);
    });
  return JSON.stringify([signer, ...lines.toSorted()]);
}

/** Returns the transaction alone, as a vault records it. */
export function transactionIn({ hash, signer, fee, block, movements }: ReadTransaction): ChainTransaction {
  return { hash, signer, fee, block, movements };
}

function tracesOf(group: readonly Mined[]): Pick<ReadTransaction, 'untracedBy' | 'isUntraced'> {
  const untracedBy = group.flatMap((one) => one.untracedBy ?? []);
  if (untracedBy.length === 0) return {};
  return group.every(({ isUntraced }) => isUntraced === true) ? { untracedBy, isUntraced: true } : { untracedBy };
}

function isSame(one: ActivityBlock, other: ActivityBlock | null): boolean {
  return one.hash === other?.hash && one.number === other.number;
}
