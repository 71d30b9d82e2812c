import type { Holdings } from '#chains/chain-adapter.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import { NO_NODE } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * What a wallet holds by the word of two nodes, where there are two: one alone can lie, and what it says here changes a balance. What they
 * do not say alike counts as not said, and is asked for again. Refuses when a second one is configured and can not be asked.
 *
 * @param read asks one node; with what the first one said when it is the second: to be asked at the same block, where its chain can be
 */
export async function agreedHoldings(
  fleet: Fleet,
  read: (node: RpcNode, told: Holdings | null) => Promise<Result<Holdings, Trouble>>,
): Promise<Result<Holdings, Trouble>> {
  let trouble: Trouble = NO_NODE;
  let told: Holdings | null = null;
  for (const node of fleet.nodes) {
    const away = await fleet.trouble(node);
    const held: Result<Holdings, Trouble> = away === null ? await read(node, told) : refused(away);
    if (!held.ok) {
      trouble = held.refusal;
      continue;
    }
    if (told !== null) return accepted(commonOf(told, held.value));
    if (fleet.nodes.length === 1) return held;
    told = held.value;
  }
  return refused(trouble);
}

function commonOf(one: Holdings, other: Holdings): Holdings {
  const older = BigInt(one.blockNumber) < BigInt(other.blockNumber) ? one : other;
  const amounts = one.amounts.map((amount, i) => (amount === other.amounts[i] ? amount : null));
  const isDisputed = amounts.some((amount, i) => amount !== one.amounts[i]);
  return { blockNumber: older.blockNumber, amounts, isDisputed };
}
