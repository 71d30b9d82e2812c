import type { ChainTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';

/** Replaces the payer of a block's first transaction. */
export const MINER = 'miner';

/** Replaces the owner of an output that has a script without an address. */
const SCRIPT = 'script';

/**
 * Returns the payer of a transaction, which is the owner of its first input; null for a miner's
 * reward, which has no input.
 */
export function payerOf({ inputs: [first] }: ChainTransfer): string | null {
  return first === undefined ? null : (first.address ?? SCRIPT);
}

/**
 * Returns the movements of a transaction: each output to an owner that did not pay for it. An
 * output to a payer is change and no movement, and the miner's share is the fee.
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
