import type { ChainClient } from '#chains/chain-client.ts';
import { isEconomical } from '#chains/bitcoin/client/coin-selection.ts';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { feeAt } from '#chains/bitcoin/rules/fee-rate.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import { dustOf, virtualSizeOf } from '#chains/bitcoin/rules/utxo.ts';
import type { WalletUtxo } from '#chains/wallet-utxo.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { feeCapFor } from '#domain/wallet/fee-cap.ts';
import type { JobPayment } from './job.ts';
import { intentOf } from './transfer.ts';
import type { Priced, Remainder, SweptWallet, WalletRound } from './wallet-round.ts';
import { answered, paymentAt } from './wallet-round.ts';

/** Rates change between the estimate and the quote. */
const MAX_QUOTES = 3;

interface Scripts {
  readonly own: Uint8Array;
  readonly to: Uint8Array;
}

/**
 * Returns the payments that empty a wallet on Bitcoin: each spends as many UTXOs as a transaction
 * can, the largest first, and has no change. UTXOs that are not deep enough, or that only one of
 * several servers lists, stay for a later round. Throws when no server answers.
 */
export async function utxoPayments(client: ChainClient, wallet: SweptWallet): Promise<WalletRound> {
  const { chain } = client;
  const network = networkOf(chain.caip2);
  const [own, to] = [wallet.from, wallet.to].map((address) => (network === null ? null : scriptOf(network, address)));
  if (own == null || to == null || client.utxos === undefined) throw new Error('a wallet belongs to its network');
  const all = answered(client, await client.utxos(wallet.from));
  const isReady = (utxo: WalletUtxo) => utxo.isProven && utxo.confirmations >= chain.confirmations;
  const isMeant = (utxo: WalletUtxo) => wallet.includeMayCarryMore || !utxo.mayCarryMore;
  const remainders = [
    ...remainder(
      all.filter((utxo) => !isReady(utxo)),
      'not in enough blocks yet, or not on every server',
      true,
    ),
    ...remainder(
      all.filter((utxo) => isReady(utxo) && !isMeant(utxo)),
      'its UTXOs may carry more than satoshi; --include-may-carry-more spends them',
      false,
    ),
  ];
  const ready = all.filter((utxo) => isReady(utxo) && isMeant(utxo));
  const payments: JobPayment[] = [];
  for (let start = 0; start < ready.length; start += maxInputsOf(own)) {
    const spent = ready.slice(start, start + maxInputsOf(own));
    const names = new Set(spent.map(({ outpoint }) => outpoint));
    const locked = new Set(all.map(({ outpoint }) => outpoint).filter((outpoint) => !names.has(outpoint)));
    const priced = await pricedBatch(client, wallet, { spent, locked, scripts: { own, to } });
    if ('intent' in priced) payments.push(await paymentAt(client, priced, BigInt(payments.length)));
    remainders.push(...('intent' in priced ? priced.remainders : priced));
  }
  return { payments, remainders };
}

interface Batch {
  readonly spent: readonly WalletUtxo[];
  /** The names of the wallet's other UTXOs. */
  readonly locked: ReadonlySet<string>;
  readonly scripts: Scripts;
}

/** Returns the payment of a batch with what is too small to be spent, or why the batch stays. */
async function pricedBatch(
  client: ChainClient,
  wallet: SweptWallet,
  { spent, locked, scripts: { own, to } }: Batch,
): Promise<(Priced & { readonly remainders: readonly Remainder[] }) | readonly Remainder[]> {
  const { chain } = client;
  const transfer = (units: bigint, size: bigint | null): TransferIntent =>
    intentOf(chain, { ...wallet, tokenAddress: null, amount: amountOf(units) }, feeCapFor(chain, size));
  for (let i = 0; i < MAX_QUOTES; i++) {
    const estimate = await client.estimate(transfer(dustOf(to), null), locked);
    if (!estimate.ok && estimate.refusal.kind === 'transient')
      throw new Error(`${chain.name}: ${estimate.refusal.detail}`);
    if (!estimate.ok) return remainder(spent, 'less than its fee', false);
    if (!('virtualSize' in estimate.value)) throw new Error('an estimate on Bitcoin has a size');
    const rate = BigInt(estimate.value.normal.feeRate);
    const isWhole = (utxo: WalletUtxo) => isEconomical(own, { ...utxo, amount: BigInt(utxo.amount) }, rate);
    const [used, small] = [spent.filter(isWhole), spent.filter((utxo) => !isWhole(utxo))];
    const size = virtualSizeOf(own, used.length, [to]);
    const units = totalOf(used) - feeAt(rate, size);
    if (units < dustOf(to)) return remainder(spent, 'less than its fee', false);
    const intent = transfer(units, size);
    const quote = await client.quote(intent, null, { locked });
    if (quote.ok) return { intent, quote: quote.value, remainders: remainder(small, 'less than its fee', false) };
    const { refusal } = quote;
    if (refusal.kind === 'busy') return remainder(spent, 'its UTXOs cannot be spent now', true);
    if (refusal.kind === 'transient') throw new Error(`${chain.name}: ${refusal.detail}`);
    if (refusal.reason !== 'INSUFFICIENT_FUNDS')
      return remainder(spent, `${refusal.reason}: ${refusal.detail ?? ''}`, true);
  }
  return remainder(spent, 'the fee rate changed meanwhile', true);
}

function remainder(utxos: readonly WalletUtxo[], reason: string, isOpen: boolean): readonly Remainder[] {
  return utxos.length === 0 ? [] : [{ tokenAddress: null, units: totalOf(utxos), reason, isOpen }];
}

function totalOf(utxos: readonly WalletUtxo[]): bigint {
  return utxos.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
}
