import { hexToBytes } from '@noble/hashes/utils.js';
import type { Witnesses } from '#chains/bitcoin/coin-proof.ts';
import { askTransaction } from '#chains/bitcoin/question.ts';
import type { Coin } from '#chains/bitcoin/terms.ts';
import type { Payment } from '#chains/bitcoin/transaction.ts';
import { coinsIn } from '#chains/bitcoin/transaction.ts';
import type { Attempt } from '#domain/transaction.ts';

/**
 * The coins of an attempt that its replacement spends: all of them, in their order. A cancellation leaves those out whose transaction no
 * server shows, because with them it is never included either. The first coin stays: it is part of every attempt, and co-signers sign no
 * replacement without it. Where it is not shown itself, nothing is left out.
 */
export async function keptCoins(
  witnesses: Witnesses,
  replaced: Pick<Attempt, 'payload'>,
  payment: Payment,
): Promise<readonly Coin[]> {
  const coins = coinsIn(hexToBytes(replaced.payload.slice(2)));
  const [first, ...rest] = coins;
  if (payment.to !== null || first === undefined || rest.length === 0) return coins;
  const nodes = [witnesses.node, ...(await witnesses.others())];
  const isGone = async ({ txid }: Coin) => {
    const answers = await Promise.all(nodes.map((node) => node.ask(askTransaction(txid))));
    const told = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
    return told.length > 0 && told.every((transaction) => transaction === null);
  };
  const gone = await Promise.all(coins.map(isGone));
  return gone[0] === true ? coins : coins.filter((_, i) => gone[i] !== true);
}
