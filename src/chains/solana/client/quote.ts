import type { Address } from '@solana/kit';
import { blockhash } from '@solana/kit';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent, shortOf } from '#chains/permanent-fault.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { SolanaQuote } from '#chains/solana/rules/compose.ts';
import { storedNonce } from '#chains/solana/client/accounts.ts';
import type { ReplacedPrice } from '#chains/solana/client/price.ts';
import { attemptPrice, pricePaid, priceTiers } from '#chains/solana/client/price.ts';
import type { Account } from '#chains/solana/client/account-answers.ts';
import {
  getAccounts,
  getPrioritizationFees,
  getMinimumRent,
  simulateTransaction,
} from '#chains/solana/client/rpc-calls.ts';
import type { Source } from '#chains/solana/client/source.ts';
import { findSource } from '#chains/solana/client/source.ts';
import { accountsOf, namedAccounts, writtenBy } from '#chains/solana/client/payment-accounts.ts';
import { targetOf } from '#chains/solana/client/target.ts';
import type { TokenTerms } from '#chains/solana/rules/payment-terms.ts';
import { costOf, MICRO, nonceAccountOf, NONCE_SLOTS, SIGNATURE_FEE } from '#chains/solana/rules/payment-terms.ts';
import type { Payment } from '#chains/solana/rules/transaction.ts';
import { paymentOf, simulationMessage } from '#chains/solana/rules/transaction.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { OnChainIntent, TransferIntent } from '#domain/transaction/intent.ts';
import type { Funds } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt, Speed } from '#domain/transaction/transaction.ts';

/** The data of a payment without its price. */
export interface PaymentPlan {
  readonly payment: Payment;
  /** Lamports of the wallet. */
  readonly balance: bigint;
  readonly token: TokenTerms | null;
  /** The largest fee of the token in the current and the next epochs, in its units. */
  readonly announcedFee: bigint;
  readonly unitLimit: number;
  /** Lamports that a nonce account must hold permanently. */
  readonly nonceRent: bigint;
  /** Lamports that an account without data must hold, unless it holds none. */
  readonly leastBalance: bigint;
  /**
   * Nonce slots of the wallet with a nonce account, as decimal texts: a payment in one of them
   * opens no account.
   */
  readonly openSlots: readonly string[];
  /** Balances in the state of one slot. */
  readonly funds: Funds;
  /** Recently paid prices: for the accounts that this payment writes to, and for any. */
  readonly paid: readonly (readonly bigint[])[];
}

/**
 * Up to five instructions of built-in programs precede the payment, at 150 units each; the rest is
 * for rounding.
 */
const ANCHOR_UNITS = 1_000n;
const NONCE_BYTES = 80;
const SLOT_NUMBERS: readonly number[] = Array.from({ length: NONCE_SLOTS }, (_, slot) => slot);

/**
 * Returns the current cost of an intent, after all checks that are possible before signing.
 *
 * Refuses permanently, in order: what `targetOf` refuses, INSUFFICIENT_FUNDS for the amount itself,
 * SIMULATION_REVERTED, TOKEN_REFUSED for a token fee above the approved one, FEE_CAP_EXCEEDED,
 * INSUFFICIENT_FUNDS for amount and fee together, and for a remainder below the minimum of an
 * account.
 *
 * A first attempt has no nonce slot yet. Its cost includes the rent of one only when the wallet has
 * no open slot. The allocator decides whether an open one is free, and otherwise whether the
 * balance covers the rent of a new one (`Spending.positions`).
 */
export async function quoteTransfer(
  node: RpcNode,
  intent: OnChainIntent,
  { replaced, speed }: { readonly replaced: Attempt | null; readonly speed: Speed },
): Promise<Result<SolanaQuote, PermanentFault | NodeProblem>> {
  const plan = await planPayment(node, intent);
  if (!plan.ok) return plan;
  const prospect = plan.value;
  const { payment, balance, token, unitLimit, leastBalance, openSlots, nonceRent, funds } = prospect;
  const unapproved = tokenFeeFault(prospect, intent);
  if (unapproved !== null) return refused(unapproved);
  const fresh = priceTiers(prospect.paid)[speed];
  const unitPrice = attemptPrice(fresh, mostPrice(prospect, intent), replacedPrice(payment, replaced));
  if (unitPrice === null) {
    const detail =
      `The maximum fee of ${intent.maxFee} lamports does not cover ${replaced === null ? 'an' : 'a further'} ` +
      `attempt. Rent and base fee take up to ${costAt(prospect, 0n, true)} lamports of it.`;
    return refused(permanent('FEE_CAP_EXCEEDED', detail));
  }
  const opensNonce = replaced === null ? openSlots.length === 0 : !openSlots.includes(replaced.nonce);
  const maxFee = costAt(prospect, unitPrice, opensNonce);
  const needed = (payment.mint === null ? payment.units : 0n) + maxFee;
  if (balance < needed) {
    return refused(
      shortOf(
        null,
        needed - balance,
        `The wallet holds ${balance} lamports. The transaction requires ${needed} lamports.`,
      ),
    );
  }
  const left = balance - needed;
  if (left > 0n && left < leastBalance) {
    const detail = `The wallet would keep ${left} lamports. An account must hold 0 or at least ${leastBalance}.`;
    return refused(shortOf(null, leastBalance - left, detail));
  }
  const spending =
    replaced === null
      ? {
          amounts: spendingOf(intent, costAt(prospect, unitPrice, false)),
          funds,
          positions: { open: openSlots, rent: amountOf(nonceRent) },
        }
      : { amounts: spendingOf(intent, maxFee), funds };
  return accepted({ unitLimit, unitPrice, token, maxFee: amountOf(maxFee), spending });
}

/** Returns the fault of a token that withholds more than the intent allows. */
function tokenFeeFault({ payment, token }: PaymentPlan, intent: OnChainIntent): PermanentFault | null {
  const most = intent.kind === 'transfer' ? BigInt(intent.maxTokenFee ?? 0) : 0n;
  const withheld = token?.withheld ?? 0n;
  if (withheld <= most) return null;
  const detail =
    `The token ${payment.mint} withholds ${withheld} of the ${payment.units} units from the recipient. ` +
    `The payment allows ${most}: see maxTokenFee.`;
  return permanent('TOKEN_REFUSED', detail);
}

/**
 * Reads everything that a payment involves. Refuses as `quoteTransfer` does for the payment itself.
 */
export async function planPayment(
  node: RpcNode,
  intent: OnChainIntent,
): Promise<Result<PaymentPlan, PermanentFault | NodeProblem>> {
  if (intent.kind !== 'transfer') throw new Error('a stored intent is not a transfer');
  const payment = paymentOf(intent);
  if (payment === null) throw new Error('a stored intent is not in canonical form');
  const { wallet } = payment;
  const addresses = accountsOf(payment);
  const [accounts, nonceRent, leastBalance, ...prices] = await Promise.all([
    // All at one slot: the balances, and the open nonce slots in the same state.
    node.request(getAccounts([...addresses, ...SLOT_NUMBERS.map((slot) => nonceAccountOf(wallet, slot))])),
    node.request(getMinimumRent(NONCE_BYTES)),
    node.request(getMinimumRent(0)),
    node.request(getPrioritizationFees(writtenBy(payment))),
    node.request(getPrioritizationFees([])),
  ]);
  if (!accounts.ok) return accounts;
  if (!nonceRent.ok) return nonceRent;
  if (!leastBalance.ok) return leastBalance;
  const { slot, value: found } = accounts.value;
  const named = namedAccounts(found.slice(0, addresses.length));
  const source = await findSource(node, payment, named);
  if (!source.ok) return source;
  const target = targetOf(payment, named, source.value);
  if (!target.ok) return target;
  const { token, announcedFee } = target.value;
  const balance = named.wallet?.lamports ?? 0n;
  const poor = lamportsFault(payment, {
    balance,
    leastBalance: leastBalance.value,
    hasRecipient: named.recipient !== null,
  });
  if (poor !== null) return refused(poor);
  const units = await unitsOf(node, intent, token);
  if (!units.ok) return units;
  return accepted({
    payment,
    balance,
    token,
    announcedFee,
    unitLimit: units.value,
    nonceRent: nonceRent.value,
    leastBalance: leastBalance.value,
    openSlots: openSlotsIn(found.slice(addresses.length), wallet),
    funds: {
      blockNumber: slot.toString(),
      nonceCount: null,
      holds: [{ tokenAddress: null, amount: amountOf(balance) }, ...tokensIn(payment, source.value)],
      least: amountOf(leastBalance.value),
    },
    // Without them the floors apply.
    paid: prices.map((answer) => (answer.ok ? answer.value : [])),
  });
}

/**
 * Returns why the lamports of a wallet do not suffice for a payment, or do not open the account of
 * its recipient; null when they do.
 */
function lamportsFault(
  payment: Payment,
  known: { readonly balance: bigint; readonly leastBalance: bigint; readonly hasRecipient: boolean },
): PermanentFault | null {
  const { balance, leastBalance, hasRecipient } = known;
  const sent = payment.mint === null ? payment.units : 0n;
  const least = sent + SIGNATURE_FEE;
  if (balance < least) {
    const detail = `The wallet holds ${balance} lamports. The transaction requires at least ${least} lamports.`;
    return shortOf(null, least - balance, detail);
  }
  if (sent === 0n || hasRecipient || sent >= leastBalance) return null;
  const detail = `${payment.to} has no account yet. It must receive at least ${leastBalance} lamports.`;
  return permanent('RECIPIENT_REFUSED', detail);
}

/** Returns the nonce slots whose accounts hold a nonce that the wallet can use. */
function openSlotsIn(accounts: readonly (Account | null)[], wallet: Address): readonly string[] {
  return SLOT_NUMBERS.filter((slot) => storedNonce(accounts[slot] ?? null)?.authority === wallet).map(String);
}

/**
 * Returns the balance of the account that a token payment spends from. Payments from the token's
 * other accounts are checked against it too, so one of them may wait although its account would
 * suffice.
 */
function tokensIn({ mint }: Payment, { account }: Source): readonly AssetAmount[] {
  return mint === null || account === null ? [] : [{ tokenAddress: mint, amount: amountOf(account.units) }];
}

/**
 * Returns the largest price that the fee cap allows, with everything that may have to be opened;
 * negative when it allows none.
 */
function mostPrice(prospect: PaymentPlan, { maxFee }: OnChainIntent): bigint {
  const left = BigInt(maxFee) - costAt(prospect, 0n, true);
  return left < 0n ? -1n : (left * MICRO) / BigInt(prospect.unitLimit);
}

function replacedPrice({ wallet, to }: Payment, replaced: Attempt | null): ReplacedPrice | null {
  if (replaced === null) return null;
  const hasLapsed = replaced.sent?.outcome === 'lapsed';
  return { paid: pricePaid(replaced, wallet), hasLapsed, isCancelled: to === wallet };
}

/** Returns the cost in lamports at a price, with the accounts that the payment opens. */
export function costAt({ token, unitLimit, nonceRent }: PaymentPlan, unitPrice: bigint, opensNonce: boolean): bigint {
  const rent = opensNonce ? nonceRent : 0n;
  return costOf({
    anchor: { kind: 'opening', nonceSlot: 0, blockhash: NO_BLOCKHASH, rent },
    unitLimit,
    unitPrice,
    token,
  });
}

const NO_BLOCKHASH = blockhash('11111111111111111111111111111111');

/**
 * The simulation offers no price and opens no nonce slot, so it leaves the wallet more than the
 * payment will: one that empties the wallet fails with this error. The network checks it after the
 * execution, and `quoteTransfer` checks the true remainder.
 */
const RENT_OF_PAYER = '{"InsufficientFundsForRent":{"account_index":0}}';

/**
 * Returns the compute units of a simulation plus a tenth, since the accounts may change until
 * execution.
 */
async function unitsOf(
  node: RpcNode,
  intent: TransferIntent,
  token: TokenTerms | null,
): Promise<Result<number, PermanentFault | NodeProblem>> {
  const bytes = simulationMessage(intent, token);
  const simulated = await node.request(simulateTransaction(Buffer.from(bytes).toString('base64')));
  if (!simulated.ok) return simulated;
  const { error, logs, units } = simulated.value;
  if (error === null || (error === RENT_OF_PAYER && units > 0n))
    return accepted(Number.parseInt(((units * 11n) / 10n + ANCHOR_UNITS).toString(), 10));
  if (/InsufficientFunds/.test(error)) return refused(permanent('INSUFFICIENT_FUNDS', `The network reports ${error}.`));
  const words = logs.findLast((line) => /error|failed|insufficient/i.test(line));
  return refused(permanent('SIMULATION_REVERTED', words === undefined ? error : `${error}: ${words}`));
}
