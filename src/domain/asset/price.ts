import { decimalText } from '#domain/asset/amount.ts';

/** Decimal places of a price: US dollars for one whole unit of an asset, times 10^12. */
const PRICE_DIGITS = 12;
/**
 * Decimal places of a market value. A price times an amount of up to 18 decimals is exact in it.
 */
const VALUE_DIGITS = 30;

/** The price of an asset, as far as the price sources know it. */
export type Price =
  | { readonly state: 'known'; readonly usdE12: string; readonly atMs: number }
  /** Every source answered, and none has a price. */
  | { readonly state: 'unknown' }
  /** A source that may have a price did not answer. A retry may succeed. */
  | { readonly state: 'unavailable' }
  /** There is no source. */
  | { readonly state: 'unpriced' };

/** The newest round of a price feed, as its chain has it. Times in Unix seconds. */
export interface FeedRound {
  readonly answer: bigint;
  readonly decimals: bigint;
  readonly startedAt: bigint;
  readonly updatedAt: bigint;
  /** The answer was not carried over from an earlier round. */
  readonly isOfItsRound: boolean;
}

const DECIMAL = /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$/;

/**
 * Returns a price in a source's spelling, such as `0.9998` or `1.2e-7`, times 10^12. Further digits
 * are cut off. Returns null for anything else.
 */
export function parseUsdPrice(text: string): string | null {
  const parts = text.length > 100 ? null : DECIMAL.exec(text);
  if (parts === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const shift = Number.parseInt(exponent, 10) + PRICE_DIGITS - fraction.length;
  const digits = BigInt(`${whole}${fraction}`);
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return scaled.toString();
}

/** Returns the market value of an amount: US dollars times 10^30. */
export function usdValueAtPrice(units: bigint, decimals: number, usdE12: string): bigint {
  const size = units < 0n ? -units : units;
  return (size * BigInt(usdE12) * 10n ** BigInt(VALUE_DIGITS - PRICE_DIGITS)) / 10n ** BigInt(decimals);
}

/**
 * Spec part 8: token transfers below this value are hidden by default. A transfer of exactly this
 * value is shown.
 */
export const MIN_SHOWN_VALUE = 5n * 10n ** BigInt(VALUE_DIGITS - 3);

export const ONE_DOLLAR = 10n ** BigInt(VALUE_DIGITS);

/** Returns the units that are worth a dollar, rounded down; null for a price of zero. */
export function unitsOfOneDollar(decimals: number, usdE12: string): bigint | null {
  const price = BigInt(usdE12);
  return price === 0n ? null : 10n ** BigInt(PRICE_DIGITS + decimals) / price;
}

/**
 * The maximum number of shown decimal places, and the number that is shown even when they are
 * zeros.
 */
const MAX_SHOWN_DIGITS = 6;
const MIN_SHOWN_DIGITS = 2;

/**
 * Returns text such as `1234.50` or `0.004999`. Digits after the sixth decimal place are cut off.
 */
export function usdText(value: bigint): string {
  const cut = value / 10n ** BigInt(VALUE_DIGITS - MAX_SHOWN_DIGITS);
  const [whole, fraction = ''] = decimalText(cut, MAX_SHOWN_DIGITS).split('.');
  return `${whole}.${fraction.padEnd(MIN_SHOWN_DIGITS, '0')}`;
}
