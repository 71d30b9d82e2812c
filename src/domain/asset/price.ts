import { decimalText } from '#domain/asset/amount.ts';

/** Digits of a price behind the point: US dollars for one whole coin or token, times 10^12. */
const PRICE_DIGITS = 12;
/** Digits of a worth behind the point. A price times an amount of up to 18 decimals is exact in it. */
const VALUE_DIGITS = 30;

/** What is known of the price of an asset. */
export type Price =
  | { readonly state: 'known'; readonly usdE12: string; readonly atMs: number }
  /** Every source was asked, and none knows it. */
  | { readonly state: 'unknown' }
  /** A source that may know it could not be asked; later it may. */
  | { readonly state: 'unavailable' }
  /** There is no source. */
  | { readonly state: 'unpriced' };

/** The newest round of a price feed, as its chain has it. Times in Unix seconds. */
export interface FeedRound {
  readonly answer: bigint;
  readonly decimals: bigint;
  readonly startedAt: bigint;
  readonly updatedAt: bigint;
  /** Not carried over from an earlier one. */
  readonly isOfItsRound: boolean;
}

const DECIMAL = /^([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,3}))?$/;

/** A price as sources write it, `0.9998` or `1.2e-7`, times 10^12; digits beyond that are cut off. Null for anything else. */
export function parseUsdPrice(text: string): string | null {
  const parts = text.length > 100 ? null : DECIMAL.exec(text);
  if (parts === null) return null;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const shift = Number.parseInt(exponent, 10) + PRICE_DIGITS - fraction.length;
  const digits = BigInt(`${whole}${fraction}`);
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return scaled.toString();
}

/** What so many units are worth: US dollars times 10^30. */
export function usdValueAtPrice(units: bigint, decimals: number, usdE12: string): bigint {
  const size = units < 0n ? -units : units;
  return (size * BigInt(usdE12) * 10n ** BigInt(VALUE_DIGITS - PRICE_DIGITS)) / 10n ** BigInt(decimals);
}

/** Spec part 8: token transfers worth less than this are hidden by default; exactly this much is shown. */
export const MIN_SHOWN_VALUE = 5n * 10n ** BigInt(VALUE_DIGITS - 3);

export const ONE_DOLLAR = 10n ** BigInt(VALUE_DIGITS);

/** Digits that people are shown, and those that stand there even when they are nothing. */
const MAX_SHOWN_DIGITS = 6;
const MIN_SHOWN_DIGITS = 2;

/** `1234.50`, `0.004999`: what is behind the sixth digit is cut off. */
export function usdText(value: bigint): string {
  const cut = value / 10n ** BigInt(VALUE_DIGITS - MAX_SHOWN_DIGITS);
  const [whole, fraction = ''] = decimalText(cut, MAX_SHOWN_DIGITS).split('.');
  return `${whole}.${fraction.padEnd(MIN_SHOWN_DIGITS, '0')}`;
}
