import type { Balance } from '#dashboard/api.ts';
import { decimalText, readableAmount } from '#domain/asset/amount.ts';

/**
 * Amounts and fiat values as every page shows them, and typed amounts in the locale of the browser.
 * Amounts are whole numbers of the smallest unit and stay exact. No float is used, because 18
 * decimals do not fit into one.
 */

interface NumberStyle {
  readonly whole: Intl.NumberFormat;
  /** The separator between the whole part and the decimals. */
  readonly decimal: string;
  /** The separator between groups of digits of the whole part. */
  readonly group: string;
}

const STYLES = new Map<string | undefined, NumberStyle>();

/**
 * Returns the separators of a locale; undefined is the locale of the browser. Digits are always the
 * ASCII digits.
 */
function styleOf(locale: string | undefined): NumberStyle {
  const known = STYLES.get(locale);
  if (known !== undefined) return known;
  const parts = new Intl.NumberFormat(locale, { numberingSystem: 'latn', useGrouping: 'always' }).formatToParts(
    12345.5,
  );
  const style = {
    whole: new Intl.NumberFormat(locale, { numberingSystem: 'latn', useGrouping: 'always', maximumFractionDigits: 0 }),
    decimal: parts.find(({ type }) => type === 'decimal')?.value ?? '.',
    group: parts.find(({ type }) => type === 'group')?.value ?? ',',
  };
  STYLES.set(locale, style);
  return style;
}

/**
 * Returns an amount as it is typed in this locale: `1234500` of 3 decimals is `1,234.5` in English.
 * It is for inputs; pages show `readableAmount`.
 */
export function typedUnits(amount: string, decimals: number, locale?: string): string {
  const digits = amount.padStart(decimals + 1, '0');
  const { whole, decimal } = styleOf(locale);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const text = whole.format(BigInt(digits.slice(0, digits.length - decimals)));
  return `${text}${decimals === 0 || part === '' ? '' : `${decimal}${part}`}`;
}

/** Returns an amount in smallest units as every page shows it: `1234500` of 3 is `1 234.5`. */
export function unitsText(amount: string, decimals: number): string {
  return readableAmount(BigInt(amount), decimals);
}

/**
 * Normalizes spaces and apostrophes. Each exists as several characters, and a keyboard has one of
 * them.
 */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f\u2009]/g, ' ').replaceAll('’', "'");
}

/** An amount with grouped digits as every page shows it. No locale writes another number so. */
const SHOWN = /^(\d{1,3}(?: \d{3})+)(?:\.(\d+))?$/;

/**
 * Returns a typed amount in the smallest unit. Returns null for a text that is no amount, has too
 * many decimals, or can be read in two ways. Group separators are accepted only where the locale
 * puts them: `0,5` is five tenths in German and invalid in English. An amount that was copied from
 * a page is accepted when it has groups.
 */
export function parseUnits(typed: string, decimals: number, locale?: string): string | null {
  const text = plain(typed.trim());
  const shown = SHOWN.exec(text);
  if (shown !== null) return unitsFrom((shown[1] ?? '').replaceAll(' ', ''), shown[2] ?? '', decimals);
  const { whole: format, decimal, group } = styleOf(locale);
  const [whole = '', part = '', ...more] = text.split(plain(decimal));
  const digits = whole.replaceAll(plain(group), '');
  if (more.length > 0 || !/^\d+$/.test(digits) || !/^\d*$/.test(part)) return null;
  if (digits !== whole && plain(format.format(BigInt(digits))) !== whole) return null;
  return unitsFrom(digits, part, decimals);
}

function unitsFrom(digits: string, part: string, decimals: number): string | null {
  return part.length > decimals ? null : (digits + part.padEnd(decimals, '0')).replace(/^0+(?=\d)/, '');
}

/** Returns an example of a valid amount, for the error about an unreadable one. */
export function amountHint(decimals: number, locale?: string): string {
  const example =
    decimals === 0 ? typedUnits('1234', 0, locale) : typedUnits(`12345${'0'.repeat(decimals - 1)}`, decimals, locale);
  return `Enter an amount such as ${example}, with at most ${decimals} decimals.`;
}

/**
 * Returns the exact sum of known values in US dollars, as text with a decimal point, and the number
 * of unknown ones.
 */
export function usdTotal(values: readonly (string | null)[]): { readonly total: string; readonly unknown: number } {
  const known = values.filter((value) => value !== null).map((value) => value.split('.'));
  const digits = Math.max(0, ...known.map(([, part = '']) => part.length));
  const units = known.map(([whole = '0', part = '']) => BigInt(whole + part.padEnd(digits, '0')));
  const total = decimalText(
    units.reduce((sum, one) => sum + one, 0n),
    digits,
  );
  return { total, unknown: values.length - known.length };
}

/**
 * Returns a value in US dollars with two decimals, or null when the value is unknown: `$24 937.41`.
 * A positive value below one cent is shown as less than a cent.
 */
export function usdText(value: string | null): string | null {
  if (value === null) return null;
  const [whole = '0', part = ''] = value.split('.');
  const digits = part.padEnd(3, '0');
  const cents = BigInt(whole + digits.slice(0, 2)) + (digits.charAt(2) >= '5' ? 1n : 0n);
  const isTiny = cents === 0n && /[1-9]/.test(part);
  const shown = isTiny ? 1n : cents;
  const fraction = (shown % 100n).toString().padStart(2, '0');
  return `${isTiny ? '< ' : ''}$${readableAmount(shown / 100n, 0)}.${fraction}`;
}

/** The digits of a computed value after the point. */
const VALUE_DIGITS = 12;

/**
 * Returns the value of an amount in US dollars at the price of a balance in the same asset, as text
 * with a decimal point; null where the balance is 0 or has no price.
 */
export function valueLike(amount: string, { current, usdValue }: Pick<Balance, 'current' | 'usdValue'>): string | null {
  const units = BigInt(current);
  if (usdValue === null || units <= 0n) return null;
  const [whole = '0', part = ''] = usdValue.split('.');
  const value = BigInt(whole + part) * 10n ** BigInt(VALUE_DIGITS);
  return decimalText((BigInt(amount) * value) / units / 10n ** BigInt(part.length), VALUE_DIGITS);
}
