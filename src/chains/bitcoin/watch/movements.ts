import type { ChainTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/activity/movement.ts';

/** What stands for the payer of a block's first transaction. */
export const MINER = 'miner';

/** What stands for whoever can spend an output that has no address: a script of its own. */
const SCRIPT = 'script';

/** Who paid for a transaction: whoever spends its first input. Null for what a miner earned, which is made out of nothing. */
export function payerOf({ inputs: [first] }: ChainTransfer): string | null {
  return first === undefined ? null : (first.address ?? SCRIPT);
}

/**
 * What a transaction moved: each output to somebody who did not pay for it. What comes back to one of those is its change and no movement,
 * and what goes to the miner is the fee.
 */
export function movementsIn(transfer: ChainTransfer): readonly ChainMovement[] {
  const from = payerOf(transfer);
  const payers = new Set(transfer.inputs.map(({ address }) => address ?? SCRIPT));
  return transfer.outputs.flatMap(({ address, amount }, i) => {
    const to = address ?? SCRIPT;
    if (amount === 0n || payers.has(to)) return [];
    return [{ uid: `out:${i}`, kind: 'native', from, to, tokenAddress: null, tokenId: null, amount: amountOf(amount) }];
  });
}
