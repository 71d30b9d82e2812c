import type { Holdings } from '#chains/chain-adapter.ts';
import { askBalance, askBlockHash, askTip } from '#chains/bitcoin/question.ts';
import type { Fleet, Trouble } from '#chains/fleet.ts';
import { NO_NODE } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import { amountOf } from '#domain/amount.ts';
import type { Asset } from '#domain/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

interface HoldingsQuestion {
  readonly address: string;
  readonly assets: readonly Asset[];
}

/** What a wallet holds in blocks, at the newest one: servers keep no older sums. Refuses when a block comes in between. */
export async function readHoldings(
  node: RpcNode,
  { address, assets }: HoldingsQuestion,
): Promise<Result<Holdings, Trouble>> {
  const before = await headOf(node);
  if (!before.ok) return before;
  const balance = await node.ask(askBalance(address));
  if (!balance.ok) return balance;
  const after = await headOf(node);
  if (!after.ok) return after;
  if (before.value.hash !== after.value.hash) return unfit('a block came in between');
  return accepted({
    blockNumber: after.value.height.toString(),
    amounts: assets.map(({ tokenAddress }) => amountOf(tokenAddress === null ? balance.value : 0n)),
    isDisputed: false,
  });
}

async function headOf(node: RpcNode): Promise<Result<{ readonly height: bigint; readonly hash: string }, Trouble>> {
  const height = await node.ask(askTip);
  if (!height.ok) return height;
  const hash = await node.ask(askBlockHash(height.value));
  if (!hash.ok) return hash;
  return hash.value === null ? unfit('the newest block is gone') : accepted({ height: height.value, hash: hash.value });
}

/**
 * The same by the word of two servers, where there are two: one alone can lie, and what it says here changes a balance. Where they differ, in
 * what the wallet holds or in the block, it counts as not said, and is asked for again. Refuses when a second one is configured and can not
 * be asked.
 */
export async function readAgreedHoldings(fleet: Fleet, question: HoldingsQuestion): Promise<Result<Holdings, Trouble>> {
  let trouble: Trouble = NO_NODE;
  let told: Holdings | null = null;
  for (const node of fleet.nodes) {
    const away = await fleet.trouble(node);
    const held: Result<Holdings, Trouble> = away === null ? await readHoldings(node, question) : refused(away);
    if (!held.ok) {
      trouble = held.refusal;
      continue;
    }
    if (fleet.nodes.length === 1) return held;
    if (told === null) {
      told = held.value;
      continue;
    }
    const [first, second] = [told, held.value];
    if (first.blockNumber !== second.blockNumber) return unfit('two nodes are at different blocks');
    const amounts = first.amounts.map((amount, i) => (amount === second.amounts[i] ? amount : null));
    return accepted({ blockNumber: first.blockNumber, amounts, isDisputed: amounts.includes(null) });
  }
  return refused(trouble);
}

function unfit(detail: string): Result<never, Trouble> {
  return refused({ kind: 'unfit', detail });
}
