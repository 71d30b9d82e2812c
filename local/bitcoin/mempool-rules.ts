import { decimalText } from '#domain/asset/amount.ts';
import type { AcceptedTransaction } from './transaction.ts';

/** Satoshi in thousandths per virtual byte: what Bitcoin Core relays, and what a replacement pays on top (BIP-125, rule 4). */
export const RELAY_RATE = 1000n;

/** BIP-125, rule 5. */
const MAX_EVICTIONS = 100;

/** Why a mempool takes no transaction with this fee, in the words of Bitcoin Core; null where it does. @param minimum thousandths per virtual byte */
export function feeFault({ fee, virtualSize }: AcceptedTransaction, minimum: bigint): string | null {
  const [relay, mempool] = [RELAY_RATE, minimum].map((rate) => (rate * virtualSize + 999n) / 1000n);
  if (relay !== undefined && fee < relay) return `min relay fee not met, ${fee} < ${relay}`;
  return mempool !== undefined && fee < mempool ? `mempool min fee not met, ${fee} < ${mempool}` : null;
}

/**
 * Why a transaction can not replace what spends the same coins, in the words of Bitcoin Core 24 to 30; null where it can.
 *
 * @param rivals what spends one of its coins
 * @param gone those and all that spends what they pay
 */
export function replacementFault(
  taken: AcceptedTransaction,
  rivals: readonly AcceptedTransaction[],
  gone: readonly AcceptedTransaction[],
): string | null {
  if (rivals.length === 0) return null;
  const rejecting = `insufficient fee, rejecting replacement ${taken.hash}`;
  for (const rival of rivals) {
    if (rateOf(taken) <= rateOf(rival)) {
      return `${rejecting}; new feerate ${bitcoin(rateOf(taken))} BTC/kvB <= old feerate ${bitcoin(rateOf(rival))} BTC/kvB`;
    }
  }
  if (gone.length > MAX_EVICTIONS) return `too many potential replacements, rejecting replacement ${taken.hash}`;
  const paid = gone.reduce((sum, { fee }) => sum + fee, 0n);
  if (taken.fee < paid) {
    return `${rejecting}, less fees than conflicting txs; ${bitcoin(taken.fee)} < ${bitcoin(paid)}`;
  }
  const [additional, relay] = [taken.fee - paid, (RELAY_RATE * taken.virtualSize) / 1000n];
  return additional < relay
    ? `${rejecting}, not enough additional fees to relay; ${bitcoin(additional)} < ${bitcoin(relay)}`
    : null;
}

/** Satoshi for a thousand virtual bytes, rounded down as Bitcoin Core has it. */
function rateOf({ fee, virtualSize }: AcceptedTransaction): bigint {
  return (fee * 1000n) / virtualSize;
}

/** With eight places, as Bitcoin Core writes them. */
function bitcoin(satoshi: bigint): string {
  const [whole = '', fraction = ''] = decimalText(satoshi, 8).split('.');
  return `${whole}.${fraction.padEnd(8, '0')}`;
}
