import { blockhash } from '@solana/kit';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent } from '#chains/permanent-fault.ts';
import type { Trouble } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import type { Quote } from '#chains/chain-adapter.ts';
import { storedNonce } from '#chains/solana/accounts.ts';
import type { ReplacedPrice } from '#chains/solana/price.ts';
import { attemptPrice, pricePaid, priceTiers } from '#chains/solana/price.ts';
import { askAccounts, askPaidPrices, askRent, askSimulation } from '#chains/solana/question.ts';
import { findSource } from '#chains/solana/source.ts';
import { accountsOf, targetOf } from '#chains/solana/target.ts';
import type { Terms, TokenTerms } from '#chains/solana/terms.ts';
import { costOf, MICRO, nonceAccountOf, SIGNATURE_FEE } from '#chains/solana/terms.ts';
import type { Payment } from '#chains/solana/transaction.ts';
import { paymentOf, rehearsal } from '#chains/solana/transaction.ts';
import { amountOf } from '#domain/amount.ts';
import type { OnChainIntent, TransferIntent } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt, Speed } from '#domain/transaction.ts';

/** Everything of the terms but what the bytes hang on. */
export interface SolanaQuote extends Quote, Omit<Terms, 'anchor'> {}

/** What is known of a payment before its price. */
export interface Prospect {
  readonly payment: Payment;
  /** Lamports of the wallet. */
  readonly balance: bigint;
  readonly token: TokenTerms | null;
  readonly unitLimit: number;
  /** Lamports that a nonce account holds for good. */
  readonly nonceRent: bigint;
  /** Lamports that an account without data has to hold, or nothing at all. */
  readonly leastBalance: bigint;
  /** The wallet has a nonce account in its first place: most payments open none. */
  readonly hasNonce: boolean;
  /** Prices paid of late: for the accounts that this one writes to, and for any. */
  readonly paid: readonly (readonly bigint[])[];
}

/** Five instructions of built-in programs may come before the payment, at 150 units each; and some for the rounding. */
const ANCHOR_UNITS = 1_000n;
const NONCE_BYTES = 80;

/**
 * What carrying out an intent costs now, after everything that can be known before signing has been looked at.
 *
 * Refuses for good, in order: what `targetOf` refuses, INSUFFICIENT_FUNDS for the amount itself, SIMULATION_REVERTED, FEE_CAP_EXCEEDED,
 * INSUFFICIENT_FUNDS for amount and fee together, and for what would leave less than an account has to hold.
 */
export async function quoteTransfer(
  node: RpcNode,
  intent: OnChainIntent,
  { replaced, speed }: { readonly replaced: Attempt | null; readonly speed: Speed },
): Promise<Result<SolanaQuote, PermanentFault | Trouble>> {
  const looked = await prospectOf(node, intent);
  if (!looked.ok) return looked;
  const prospect = looked.value;
  const { payment, balance, token, unitLimit, leastBalance, hasNonce } = prospect;
  const fresh = priceTiers(prospect.paid)[speed];
  const unitPrice = attemptPrice(fresh, mostPrice(prospect, intent), replacedPrice(payment, replaced));
  if (unitPrice === null) {
    const detail = `${intent.maxFee} lamports are allowed, which pay for no ${replaced === null ? '' : 'further '}attempt`;
    return refused(permanent('FEE_CAP_EXCEEDED', detail));
  }
  const needed = (payment.mint === null ? payment.units : 0n) + costAt(prospect, unitPrice, !hasNonce);
  if (balance < needed) {
    return refused(permanent('INSUFFICIENT_FUNDS', `the wallet holds ${balance} of ${needed} lamports`));
  }
  const left = balance - needed;
  if (left > 0n && left < leastBalance) {
    const detail = `${left} lamports would be left; an account holds at least ${leastBalance}, or nothing`;
    return refused(permanent('INSUFFICIENT_FUNDS', detail));
  }
  return accepted({ unitLimit, unitPrice, token, maxFee: amountOf(costAt(prospect, unitPrice, !hasNonce)) });
}

/** Looks at everything that a payment deals with. Refuses as `quoteTransfer` does for the payment itself. */
export async function prospectOf(
  node: RpcNode,
  intent: OnChainIntent,
): Promise<Result<Prospect, PermanentFault | Trouble>> {
  if (intent.kind !== 'transfer') throw new Error('Solana carries out transfers alone');
  const payment = paymentOf(intent);
  if (payment === null) throw new Error('a stored intent is in canonical form');
  const { wallet } = payment;
  const addresses = accountsOf(payment);
  const written = payment.mint === null ? addresses : [wallet, ...addresses.slice(3)];
  const [accounts, nonceRent, leastBalance, ...prices] = await Promise.all([
    node.ask(askAccounts([...addresses, nonceAccountOf(wallet, 0)])),
    node.ask(askRent(NONCE_BYTES)),
    node.ask(askRent(0)),
    node.ask(askPaidPrices(written)),
    node.ask(askPaidPrices([])),
  ]);
  if (!accounts.ok) return accounts;
  if (!nonceRent.ok) return nonceRent;
  if (!leastBalance.ok) return leastBalance;
  const source = await findSource(node, payment, accounts.value.value[3] ?? null);
  if (!source.ok) return source;
  const target = targetOf(payment, accounts.value.value, source.value);
  if (!target.ok) return target;
  const balance = accounts.value.value[0]?.lamports ?? 0n;
  const sent = payment.mint === null ? payment.units : 0n;
  const least = sent + SIGNATURE_FEE;
  if (balance < least) {
    return refused(permanent('INSUFFICIENT_FUNDS', `the wallet holds ${balance} of ${least} lamports`));
  }
  const recipient = accounts.value.value[1] ?? null;
  if (payment.mint === null && recipient === null && sent > 0n && sent < leastBalance.value) {
    const detail = `${payment.to} has no account yet: it has to get at least ${leastBalance.value} lamports`;
    return refused(permanent('RECIPIENT_REFUSED', detail));
  }
  const units = await unitsOf(node, intent, target.value);
  if (!units.ok) return units;
  return accepted({
    payment,
    balance,
    token: target.value,
    unitLimit: units.value,
    nonceRent: nonceRent.value,
    leastBalance: leastBalance.value,
    hasNonce: storedNonce(accounts.value.value.at(-1) ?? null) !== null,
    // Without them the floors have to do.
    paid: prices.map((answer) => (answer.ok ? answer.value : [])),
  });
}

/** Returns the largest price that the fee cap allows, with everything that may have to be opened; negative where it allows none. */
function mostPrice(prospect: Prospect, { maxFee }: OnChainIntent): bigint {
  const left = BigInt(maxFee) - costAt(prospect, 0n, true);
  return left < 0n ? -1n : (left * MICRO) / BigInt(prospect.unitLimit);
}

function replacedPrice({ wallet, to }: Payment, replaced: Attempt | null): ReplacedPrice | null {
  if (replaced === null) return null;
  const hasLapsed = replaced.sent?.outcome === 'lapsed';
  return { paid: pricePaid(replaced, wallet), hasLapsed, isCancelled: to === wallet };
}

/** In lamports, for what may be opened and at a price. */
export function costAt({ token, unitLimit, nonceRent }: Prospect, unitPrice: bigint, opensNonce: boolean): bigint {
  const rent = opensNonce ? nonceRent : 0n;
  return costOf({ anchor: { kind: 'opening', place: 0, blockhash: NO_BLOCKHASH, rent }, unitLimit, unitPrice, token });
}

const NO_BLOCKHASH = blockhash('11111111111111111111111111111111');

/** What it takes in compute units, by a rehearsal: a tenth more, since what an account looks like changes until then. */
async function unitsOf(
  node: RpcNode,
  intent: TransferIntent,
  token: TokenTerms | null,
): Promise<Result<number, PermanentFault | Trouble>> {
  const bytes = rehearsal(intent, token);
  const simulated = await node.ask(askSimulation(Buffer.from(bytes).toString('base64')));
  if (!simulated.ok) return simulated;
  const { error, logs, units } = simulated.value;
  if (error === null) return accepted(Number.parseInt(((units * 11n) / 10n + ANCHOR_UNITS).toString(), 10));
  if (/InsufficientFunds/.test(error)) return refused(permanent('INSUFFICIENT_FUNDS', `the network says ${error}`));
  const words = logs.findLast((line) => /error|failed|insufficient/i.test(line));
  return refused(permanent('SIMULATION_REVERTED', words === undefined ? error : `${error}: ${words}`));
}
