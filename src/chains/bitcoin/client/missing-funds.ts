import type { BusyFault } from '#chains/chain-client.ts';
import type { FeeBid } from '#chains/bitcoin/client/fee-bid.ts';
import { feeFor } from '#chains/bitcoin/client/fee-bid.ts';
import { isEconomical, selectUtxos } from '#chains/bitcoin/client/coin-selection.ts';
import { maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import { totalOf } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent } from '#chains/permanent-fault.ts';

/** What a wallet could pay with. */
interface WalletFunds {
  /** Every UTXO of the wallet that is not locked, reserved or not. */
  readonly utxos: readonly Utxo[];
  /** Whether members have locked UTXOs. */
  readonly hasLocks: boolean;
}

/**
 * Returns why no UTXOs were selected: they cannot be spent yet (`busy`), the transaction would need
 * too many small ones (TOO_MANY_COINS, with the payable amount), or they do not suffice
 * (INSUFFICIENT_FUNDS).
 */
export function missingFunds(
  payment: Payment,
  { utxos, hasLocks }: WalletFunds,
  bid: FeeBid,
): PermanentFault | BusyFault {
  if (selectUtxos(payment, { kept: [], free: utxos, bid }) !== null) return { kind: 'busy' };
  const { own, to } = payment;
  const amount = to?.amount ?? 0n;
  const most = maxInputsOf(own);
  const worthy = utxos
    .filter((utxo) => isEconomical(own, utxo, bid.rate))
    .toSorted((a, b) => (a.amount < b.amount ? 1 : -1));
  const left = (spent: readonly Utxo[]) =>
    totalOf(spent) - feeFor(payment, bid, { utxos: spent.length, hasChange: false });
  if (worthy.length > most && left(worthy) >= amount) {
    const detail =
      `One transaction can spend at most ${most} UTXOs, which pay ${left(worthy.slice(0, most))} satoshi. ` +
      'Consolidate the wallet first.';
    return permanent('TOO_MANY_COINS', detail);
  }
  const needed = amount + feeFor(payment, bid, { utxos: 1, hasChange: false });
  return permanent(
    'INSUFFICIENT_FUNDS',
    `The wallet holds ${totalOf(utxos)} satoshi${hasLocks ? ' beside locked UTXOs' : ''}. ` +
      `The transaction requires ${needed} satoshi.`,
  );
}
