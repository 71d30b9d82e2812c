import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import {
  alikeOfTwo,
  areTracedAlike,
  feeOfTwo,
  isByContract,
  smallestFee,
  textOfMovements,
  tracedAmong,
} from '#chains/contents.ts';
import { denialOf, isUnread, NO_NODE, onEveryNode, reachedByTwo } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { ReadTransaction } from '#chains/chain-client.ts';
import type { ActivityBlock, ChainTransaction } from '#domain/activity/activity.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

type Answer = Result<ReadTransaction | null, NodeProblem>;
type Mined = ReadTransaction & { readonly block: ActivityBlock; readonly by: number; readonly host: string };

/**
 * Returns an inbound transaction according to all configured RPC nodes. It is proven when two nodes
 * report the same block, signer and movements, at the smaller depth and finality. A block or a
 * movement that only one of several nodes reports is a fault that names its host: a single node is
 * not trusted with a receipt, so nothing is recorded or shown by it. Payments by contracts that one
 * node alone traces come apart (`claim`). Returns null when no node that answers has the
 * transaction, or every one of them denies the recorded block; two of them when it was final.
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
  const mined = answers.flatMap((answer, by): Mined[] => {
    const stated = answer.ok ? answer.value : null;
    const block = stated?.block ?? null;
    return stated === null || block === null ? [] : [{ ...stated, block, by, host: pool.nodes[by]?.host ?? '' }];
  });
  if (mined.length > 0 && pool.nodes.length > 1) return provenOf(mined, found);
  // A transaction that one node cannot show exists. It is read again while another node lacks it.
  const unread = answers.flatMap((answer) => (!answer.ok && isUnread(answer.refusal) ? [answer.refusal] : []));
  const [first] = unread;
  if (first !== undefined && found === null) {
    const isByAll = unread.length === pool.nodes.length;
    return refused({ detail: first.detail, ...(isByAll ? { isUnread: true as const } : {}) });
  }
  if (seen.length > 0 || isGone(answers, { found, isAlone: pool.nodes.length === 1 })) return accepted(seen[0] ?? null);
  return asChainFault(answers.find((answer) => !answer.ok) ?? refused(NO_NODE));
}

/**
 * Reports whether the recorded block is gone. Two RPC nodes must show that of a final one: a node
 * without the history of the block denies it as well.
 */
function isGone(
  answers: readonly Answer[],
  { found, isAlone }: { readonly found: ActivityBlock | null; readonly isAlone: boolean },
): boolean {
  const shown = answers.filter((answer) => (answer.ok ? answer.value === null : denialOf(answer) === 'block'));
  if (found?.isFinal === true && !isAlone) return shown.length > 1;
  return shown.length > 0 || answers.some((answer) => denialOf(answer) !== null);
}

function provenOf(mined: readonly Mined[], found: ActivityBlock | null): Result<ReadTransaction, ChainFault> {
  const groups = mined.map(({ block }) => mined.filter((one) => isSame(one.block, block)));
  const group =
    groups.find(({ length }) => length > 1) ?? groups.find(([one]) => one && isSame(one.block, found)) ?? groups[0];
  const agreeing = alikeOfTwo(group ?? [], contentsOf);
  const [first] = agreeing;
  if (group === undefined || first === undefined) {
    const claimedBy = group?.[0]?.host ?? '';
    return refused({ detail: 'No two RPC nodes state the same block and contents of the transaction.', claimedBy });
  }
  const confirmations = reachedByTwo(agreeing.map(({ block }) => block.confirmations)) ?? 0;
  const isFinal = agreeing.filter(({ block }) => block.isFinal).length > 1;
  const statements = group.map((one) => ({ ...one, isUntraced: one.isUntraced === true }));
  const { agreed, claim } = tracedAmong(statements);
  const fees = agreeing.flatMap(({ fee }) => fee ?? []);
  const { memo: _, ...alike } = transactionIn(first);
  return accepted({
    ...alike,
    ...memoOfTwo(agreeing),
    fee: feeOfTwo(fees) ?? smallestFee(fees),
    block: { ...first.block, confirmations, isFinal },
    movements: [...first.movements.filter((one) => !isByContract(one)), ...agreed],
    ...(first.hasFailed === true ? { hasFailed: true as const } : {}),
    ...tracesOf(group),
    ...(claim === null ? {} : { claim }),
    ...(areTracedAlike(statements) ? { isTracedAlike: true as const } : {}),
  });
}

/**
 * Returns what every RPC node states alike about one block: signer, success and movements. Not the
 * payments by contracts, which only some nodes trace, and not the fee, which some clients report
 * without the part for the data of a rollup.
 */
function contentsOf({ signer, movements, hasFailed }: Mined): string {
  return `${signer} ${hasFailed === true} ${textOfMovements(movements.filter((one) => !isByContract(one)))}`;
}

/** Returns the transaction alone, as a vault records it. */
export function transactionIn({ hash, signer, fee, block, movements, memo }: ReadTransaction): ChainTransaction {
  return { hash, signer, fee, block, movements, ...(memo === undefined ? {} : { memo }) };
}

/**
 * Returns the memo that two RPC nodes state alike. A node without the calls between programs lacks
 * their memos, so a difference is no reason to record no payment.
 */
function memoOfTwo(statements: readonly Mined[]): Pick<ChainTransaction, 'memo'> {
  const noted = statements.filter(({ memo }) => memo !== undefined);
  const [first] = alikeOfTwo(noted, ({ memo }) => memo ?? '');
  return first?.memo === undefined ? {} : { memo: first.memo };
}

function tracesOf(group: readonly Mined[]): Pick<ReadTransaction, 'untracedBy' | 'isUntraced'> {
  const untracedBy = group.flatMap((one) => one.untracedBy ?? []);
  if (untracedBy.length === 0) return {};
  return group.every(({ isUntraced }) => isUntraced === true) ? { untracedBy, isUntraced: true } : { untracedBy };
}

function isSame(one: ActivityBlock, other: ActivityBlock | null): boolean {
  return one.hash === other?.hash && one.number === other.number;
}
