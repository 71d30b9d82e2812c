import { look, looked } from '#chains/answers.ts';
import type { ChainFault, Holdings } from '#chains/chain-adapter.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import { NO_NODE } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import type { Asset } from '#domain/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** What one node is asked. */
export interface HoldingsQuestion {
  readonly address: string;
  readonly assets: readonly Asset[];
  /** The block that another node has told of, where the chain can be asked at one; null for the one that this node chooses. */
  readonly at: string | null;
}

type HoldingsReader = (node: RpcNode, question: HoldingsQuestion) => Promise<Result<Holdings, Trouble>>;

/** What a wallet holds, by the word of the first node that can be asked; where it is doubted, of two. Refuses as they do. */
export async function readHoldings(
  fleet: Fleet,
  { isDoubted, ...asked }: Omit<HoldingsQuestion, 'at'> & { readonly isDoubted: boolean },
  read: HoldingsReader,
): Promise<Result<Holdings, ChainFault>> {
  const question = { ...asked, at: null };
  return isDoubted ? looked(await agreedHoldings(fleet, question, read)) : look(fleet, (node) => read(node, question));
}

/**
 * By the word of two nodes, where there are two, at the same block: one alone can lie, and what it says here changes a balance. What they
 * do not say alike counts as not said, and is asked for again. Refuses when a second one is configured and can not be asked, or does not
 * have the block.
 */
async function agreedHoldings(
  fleet: Fleet,
  question: HoldingsQuestion,
  read: HoldingsReader,
): Promise<Result<Holdings, Trouble>> {
  let trouble: Trouble = NO_NODE;
  let told: Holdings | null = null;
  let asked = question;
  for (const node of fleet.nodes) {
    const away = await fleet.trouble(node);
    const held: Result<Holdings, Trouble> = away === null ? await read(node, asked) : refused(away);
    if (!held.ok) {
      trouble = held.refusal;
      continue;
    }
    if (told !== null) return accepted(commonOf(told, held.value));
    if (fleet.nodes.length === 1) return held;
    told = held.value;
    asked = { ...question, at: told.blockNumber };
  }
  return refused(trouble);
}

function commonOf(one: Holdings, other: Holdings): Holdings {
  const older = BigInt(one.blockNumber) < BigInt(other.blockNumber) ? one : other;
  const amounts = one.amounts.map((amount, i) => (amount === other.amounts[i] ? amount : null));
  const isDisputed = amounts.some((amount, i) => amount !== one.amounts[i]);
  return { blockNumber: older.blockNumber, amounts, isDisputed };
}
