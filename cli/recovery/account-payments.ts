import type { ChainClient, PreparationFault } from '#chains/chain-client.ts';
import type { Quote } from '#chains/chain-rules.ts';
import { fungibleKindOn } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { feeCapFor } from '#domain/wallet/fee-cap.ts';
import { sumOf } from '#domain/wallet/reservation.ts';
import type { JobPayment } from './job.ts';
import { intentOf } from './transfer.ts';
import type { Priced, Remainder, SweptWallet, WalletRound } from './wallet-round.ts';
import { answered, paymentAt } from './wallet-round.ts';

/** Each quote corrects the amount by what the one before lacked, and prices change meanwhile. */
const MAX_QUOTES = 8;

/**
 * Returns the payments of one round that empty a wallet on an EVM chain or on Solana: the tokens,
 * or the native asset when no token can be moved any more, because the tokens pay their fees with
 * it. On Solana a round has one payment for each nonce slot that is open, or one that opens a slot.
 * Throws when an RPC node does not answer.
 */
export async function accountPayments(client: ChainClient, wallet: SweptWallet): Promise<WalletRound> {
  const counts = answered(client, await client.accountNonce(wallet.from));
  if (counts.pending > counts.latest) {
    const reason = 'transactions of the wallet are in the mempool; repeat this when they are in a block';
    return { payments: [], remainders: [{ tokenAddress: null, units: null, reason, isOpen: true }] };
  }
  const tokens = await tokenPayments(client, wallet, counts.latest);
  if (tokens.payments.length > 0) {
    const reason = 'it moves in a later round, after the tokens';
    return { ...tokens, remainders: [...tokens.remainders, { tokenAddress: null, units: null, reason, isOpen: true }] };
  }
  if (tokens.remainders.some(({ isOpen }) => isOpen)) {
    const reason = 'it stays for the fees of the tokens above; name a token that stays with --leave';
    return { ...tokens, remainders: [...tokens.remainders, { tokenAddress: null, units: null, reason, isOpen: true }] };
  }
  const native = await nativePayment(client, wallet, counts.latest);
  return { payments: native.payments, remainders: [...tokens.remainders, ...native.remainders] };
}

async function tokenPayments(client: ChainClient, wallet: SweptWallet, nonce: bigint): Promise<WalletRound> {
  const { from, tokens } = wallet;
  const kind = fungibleKindOn(client.chain.caip2);
  const assets = tokens.map((tokenAddress) => ({ kind, tokenAddress, tokenId: null }));
  const { readings } = answered(client, await client.holdings(from, assets, true));
  const payments: JobPayment[] = [];
  const remainders: Remainder[] = [];
  let fees = 0n;
  for (const [i, tokenAddress] of tokens.entries()) {
    const reading = readings[i] ?? { state: 'not-read' };
    const stays = (reason: string, isOpen: boolean, units: bigint | null = null) =>
      remainders.push({ tokenAddress, units, reason, isOpen });
    if (reading.state === 'not-read') stays('its balance cannot be read now', true);
    else if (reading.state === 'no-balance') stays('its contract states no balance', false);
    if (reading.state !== 'covered') continue;
    // The reading does not have the newest blocks. A quote has them, also one for the least amount.
    const isEmpty = reading.units === '0';
    const units = isEmpty ? 1n : BigInt(reading.units);
    const priced = await pricedTransfer(client, wallet, { tokenAddress, units });
    if ('reason' in priced) {
      if (!isEmpty || priced.isOpen) remainders.push(priced);
      continue;
    }
    if (isEmpty) {
      stays('its newest deposit is not deep enough', true);
      continue;
    }
    fees += feeOf(priced);
    const slot = nonceFor(client, priced.quote, { nonce, used: payments.length });
    // RPC nodes refuse transactions whose highest fees together exceed the balance.
    if (slot === null || fees > holdsOf(priced.quote)) stays('it moves in a later round', true, units);
    else payments.push(await paymentAt(client, priced, slot));
  }
  return { payments, remainders };
}

async function nativePayment(client: ChainClient, wallet: SweptWallet, nonce: bigint): Promise<WalletRound> {
  const asset = { kind: 'native', tokenAddress: null, tokenId: null } as const;
  const { readings } = answered(client, await client.holdings(wallet.from, [asset], true));
  const [reading] = readings;
  if (reading?.state !== 'covered') throw new Error(`${client.chain.name}: The balance of ${wallet.from} is not read.`);
  // The reading does not have the newest blocks. A quote has them, also one for the least amount.
  const isEmpty = reading.units === '0';
  const units = isEmpty ? 1n : BigInt(reading.units);
  const priced = await pricedTransfer(client, wallet, { tokenAddress: null, units });
  if ('reason' in priced) return { payments: [], remainders: isEmpty && !priced.isOpen ? [] : [priced] };
  const slot = nonceFor(client, priced.quote, { nonce, used: 0 });
  if (slot === null) throw new Error('the first payment of a round has a nonce');
  return { payments: [await paymentAt(client, priced, slot)], remainders: [] };
}

/**
 * Returns the nonce of a payment: the next account nonce, or the next nonce slot that is open. A
 * slot that is not open is opened by the first payment of a round alone, because each one costs a
 * rent. Null when there is none.
 */
function nonceFor(
  { rules }: ChainClient,
  { spending }: Quote,
  { nonce, used }: { readonly nonce: bigint; readonly used: number },
): bigint | null {
  if (rules.ordering.by === 'account-nonce') return nonce + BigInt(used);
  const open = spending?.positions?.open ?? [];
  if (open.length === 0) return used === 0 ? 0n : null;
  const slot = open[used];
  return slot === undefined ? null : BigInt(slot);
}

interface Holding {
  readonly tokenAddress: string | null;
  readonly units: bigint;
}

/**
 * Returns the transfer of as much of an asset as the wallet can pay now, or why it stays. The
 * amount begins with the known balance. A quote states what it lacks, and the newest balance.
 */
async function pricedTransfer(
  client: ChainClient,
  { from, to }: SweptWallet,
  { tokenAddress, units: known }: Holding,
): Promise<Priced | Remainder> {
  const maxFee = feeCapFor(client.chain, null);
  let units = known;
  let priced: Priced | null = null;
  for (let i = 0; i < MAX_QUOTES && units > 0n; i++) {
    const plain = intentOf(client.chain, { from, to, tokenAddress, amount: amountOf(units) }, maxFee);
    const withheld = tokenAddress === null ? null : await client.estimate(plain);
    const hasTokenFee = withheld?.ok === true && 'tokenFee' in withheld.value && withheld.value.tokenFee !== '0';
    const intent = hasTokenFee ? { ...plain, maxTokenFee: withheld.value.tokenFee } : plain;
    const quote = await client.quote(intent, null);
    if (quote.ok) {
      priced = { intent, quote: quote.value };
      const all = tokenAddress === null ? holdsOf(quote.value) - feeOf(priced) : units;
      if (all <= units) return priced;
      units = all;
      continue;
    }
    const lacking = shortfall(quote.refusal, tokenAddress);
    if (lacking === null) return priced ?? { tokenAddress, units, ...reasonOf(quote.refusal, tokenAddress) };
    units -= lacking;
  }
  if (priced !== null) return priced;
  const reason = tokenAddress === null ? 'it is less than its fee' : 'the wallet holds none of it any more';
  return { tokenAddress, units: known, reason, isOpen: false };
}

/** Returns how much of the asset itself a quote lacks; null for any other refusal. */
function shortfall(fault: PreparationFault, tokenAddress: string | null): bigint | null {
  if (fault.kind !== 'permanent' || fault.missing === undefined) return null;
  return (fault.missing.tokenAddress === null) === (tokenAddress === null) ? BigInt(fault.missing.amount) : null;
}

/**
 * A price falls, and a wallet can get the fee. What a token refuses stays so, and must not hold the
 * native asset back. The native asset moves to another recipient.
 */
function reasonOf(fault: PreparationFault, tokenAddress: string | null): Pick<Remainder, 'reason' | 'isOpen'> {
  if (fault.kind === 'busy') return { reason: 'its funds are in flight', isOpen: true };
  if (fault.kind === 'transient') return { reason: fault.detail, isOpen: true };
  const isOpen = tokenAddress === null || fault.reason === 'INSUFFICIENT_FUNDS' || fault.reason === 'FEE_CAP_EXCEEDED';
  return { reason: fault.detail === null ? fault.reason : `${fault.reason}: ${fault.detail}`, isOpen };
}

/** Returns the newest balance of the native asset. */
function holdsOf({ spending }: Quote): bigint {
  return spending === undefined ? 0n : sumOf(spending.funds.holds, null);
}

/**
 * Returns the highest fee of a transfer, with what rollups charge besides gas and the rents of the
 * accounts that it opens. Of the two statements of a quote each leaves out one of these.
 */
function feeOf({ intent, quote }: Priced): bigint {
  const sent = intent.tokenAddress === null ? BigInt(intent.amount) : 0n;
  const spent = quote.spending === undefined ? 0n : sumOf(quote.spending.amounts, null) - sent;
  return spent > BigInt(quote.maxFee) ? spent : BigInt(quote.maxFee);
}
