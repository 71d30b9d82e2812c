import type { Trouble } from '#chains/fleet.ts';
import { unfit } from '#chains/fleet.ts';
import type { Question, RpcNode } from '#chains/json-rpc.ts';
import type { ActivityBlock } from '#domain/activity.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * What a node does not know of is absent: never while the block in which it was found before still stands, for that is a node that lags
 * behind.
 *
 * @param askHash for the hash of the block at a number; null for one that there is not
 */
export async function absence(
  node: RpcNode,
  found: Pick<ActivityBlock, 'number' | 'hash'> | null,
  askHash: (number: bigint) => Question<string | null>,
): Promise<Result<null, Trouble>> {
  if (found === null) return accepted(null);
  const block = await node.ask(askHash(BigInt(found.number)));
  if (!block.ok) return block;
  return block.value === found.hash
    ? unfit('the node has the recorded block, but not the transaction')
    : accepted(null);
}
