import { decimalText } from '#domain/asset/amount.ts';
import type { AcceptedTransaction } from './transaction.ts';

/**
 * Thousandths of a satoshi per virtual byte: the relay minimum of Bitcoin Core, and the extra fee
 * of a replacement (BIP-125, rule 4).
 */
export const RELAY_RATE = 1000n;

/** BIP-125, rule 5. */
const MAX_EVICTIONS = 100;

/**
 * Returns the text with which Bitcoin Core rejects a transaction with this fee, or null. @param
 * minimum thousandths per virtual byte
 */
export function feeFault({ fee, virtualSize }: AcceptedTransaction, minimum: bigint): string | null {
  const [relay, mempool] = [RELAY_RATE, minimum].map((rate) => (rate * virtualSize + 999n) / 1000n);
  if (relay !== undefined && fee < relay) return `min relay fee not met, ${fee} < ${relay}`;
  return mempool !== undefined && fee < mempool ? `mempool min fee not met, ${fee} < ${mempool}` : null;
}

/**
 * Returns the text with which Bitcoin Core 24 to 30 rejects a replacement, or null.
 *
 * @param rivals transactions that spend one of its inputs
 * @param gone the rivals and all their descendants, which the replacement evicts
 */
export function replacementFault(
  taken: AcceptedTransaction,
  rivals: readonly AcceptedTransaction[],
  gone: readonly AcceptedTransaction[],
): string | null {
  if (rivals.length === 0) return null;
  const rejecting = `insufficient fee, rejecting replacement ${taken.hash}`;
  for (const rival of rivals) {
    const [offered, old] = [rateOf(taken), rateOf(rival)];
    if (offered <= old) {
      return `${rejecting}; new feerate ${bitcoin(offered)} BTC/kvB <= old feerate ${bitcoin(old)} BTC/kvB`;
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

/** Returns satoshi per thousand virtual bytes, rounded down as in Bitcoin Core. */
function rateOf({ fee, virtualSize }: AcceptedTransaction): bigint {
  return (fee * 1000n) / virtualSize;
}

/** Returns an amount with eight decimals, as Bitcoin Core prints it. */
function bitcoin(satoshi: bigint): string {
  const [whole = '', fraction = ''] = decimalText(satoshi, 8).split('.');
  return `${whole}.${fraction.padEnd(8, '0')}`;
}
