import type { Activity, ChainTransaction, ObservedTransaction } from '#domain/activity/activity.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { isCollectible } from '#domain/asset/movement.ts';
import { shownPart } from '#domain/activity/shown-part.ts';
import type { KnownCounterparties } from '#domain/activity/spam.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { listedToken } from '#domain/asset/chain.ts';
import { ONE_DOLLAR } from '#domain/asset/price.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import { marketValueOf, tokenProfile } from '#domain/asset/valuation.ts';

/**
 * The maximum number of records of one wallet and UTC day that strangers can cause for little
 * money. Ours.
 *
 * - `hidden`: a rule hides the whole record. One costs its sender a fraction of a cent.
 * - `small`: shown, and less than 1 USD. These are apart, so that spam does not omit payments.
 * - `omitted`: above one of these limits. Only the ledger has the payment, so it costs no row of
 *   D1, no line of the history and no notification.
 */
export const DAILY_LIMITS = { hidden: 200, small: 1_000, omitted: 10_000 } as const;

export type LimitedKind = keyof typeof DAILY_LIMITS;

/** An amount without a known value is small up to this part of the whole unit. Ours. */
const SMALL_PARTS_OF_UNIT = 10n ** 5n;

/**
 * Returns the limit against which a new record counts; null for one without a limit. What leaves
 * the wallet, and what an account of the address book signed, has none.
 */
export function limitedKind(
  record: Activity,
  valuation: Valuation,
  { isNamed }: Pick<KnownCounterparties, 'isNamed'>,
): 'hidden' | 'small' | null {
  const { signer, wallet, suspicion } = record;
  if (suspicion !== null) return 'hidden';
  if (signer === wallet || (signer !== null && isNamed(signer))) return null;
  const { changes } = shownPart(record);
  if (changes.some(({ units }) => unitsOf(units) < 0n)) return null;
  return isSmall(changes, valuation) ? 'small' : null;
}

function isSmall(changes: readonly BalanceChange[], valuation: Valuation): boolean {
  const value = marketValueOf(changes, valuation);
  if (value.state === 'known') return value.usdE30 < ONE_DOLLAR;
  return changes.every((change) => {
    const { tokenAddress, units } = change;
    const asset = tokenAddress === null ? valuation.native : tokenProfile(valuation, tokenAddress);
    const decimals = asset?.decimals ?? null;
    if (decimals === null || isCollectible(change)) return false;
    return unitsOf(units) * SMALL_PARTS_OF_UNIT <= 10n ** BigInt(decimals);
  });
}

type Posted = ObservedTransaction & { readonly seen: ChainTransaction };

/**
 * Returns the transaction with the movements that the ledger posts without a record: those of the
 * native asset, of tokens that are listed or have a price, and of tokens that the default balances
 * list. Any number of other tokens costs a stranger almost nothing.
 *
 * @param posted the tokens that the ledger has of this transaction
 */
export function postedAlone(
  { seen, valuation, chain, acquaintance }: Posted,
  posted: ReadonlySet<string | null>,
): ChainTransaction {
  const isPosted = ({ tokenAddress }: { readonly tokenAddress: string | null }) =>
    tokenAddress === null ||
    posted.has(tokenAddress) ||
    listedToken(chain, tokenAddress) !== null ||
    acquaintance.isShown(tokenAddress) ||
    (valuation !== null && tokenProfile(valuation, tokenAddress)?.price.state === 'known');
  return { ...seen, movements: seen.movements.filter(isPosted) };
}
