/**
 * Amounts, fiat values and typed amounts, in the locale of the browser. Amounts are whole numbers
 * of the smallest unit and stay exact. No float is used, because 18 decimals do not fit into one.
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

/** Returns an amount as people read it: `1234500` of 3 decimals is `1,234.5` in English. */
export function unitsText(amount: string, decimals: number, locale?: string): string {
  const isNegative = amount.startsWith('-');
  const digits = (isNegative ? amount.slice(1) : amount).padStart(decimals + 1, '0');
  const { whole, decimal } = styleOf(locale);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  const text = whole.format(BigInt(digits.slice(0, digits.length - decimals)));
  return `${isNegative ? '−' : ''}${text}${decimals === 0 || part === '' ? '' : `${decimal}${part}`}`;
}

/**
 * Normalizes spaces and apostrophes. Each exists as several characters, and a keyboard has one of
 * them.
 */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f\u2009]/g, ' ').replaceAll('’', "'");
}

/**
 * Returns a typed amount in the smallest unit. Returns null for a text that is no amount, has too
 * many decimals, or can be read in two ways. Group separators are accepted only where the locale
 * puts them: `0,5` is five tenths in German and invalid in English.
 */
export function parseUnits(typed: string, decimals: number, locale?: string): string | null {
  const { whole: format, decimal, group } = styleOf(locale);
  const [whole = '', part = '', ...more] = plain(typed.trim()).split(plain(decimal));
  const digits = whole.replaceAll(plain(group), '');
  if (more.length > 0 || !/^\d+$/.test(digits) || !/^\d*$/.test(part) || part.length > decimals) return null;
  if (digits !== whole && plain(format.format(BigInt(digits))) !== whole) return null;
  return (digits + part.padEnd(decimals, '0')).replace(/^0+(?=\d)/, '');
}

/** Returns an example of a valid amount, for the error about an unreadable one. */
export function amountHint(decimals: number, locale?: string): string {
  const example =
    decimals === 0 ? unitsText('1234', 0, locale) : unitsText(`12345${'0'.repeat(decimals - 1)}`, decimals, locale);
  return `Enter an amount such as ${example}, with at most ${decimals} decimals.`;
}

/**
 * Returns a value in US dollars with two decimals, or null when the value is unknown. A positive
 * value below one cent is shown as less than a cent.
 */
export function usdText(value: string | null, locale?: string): string | null {
  if (value === null) return null;
  const [whole = '0', part = ''] = value.split('.');
  const digits = part.padEnd(3, '0');
  const cents = BigInt(whole + digits.slice(0, 2)) + (digits.charAt(2) >= '5' ? 1n : 0n);
  const isTiny = cents === 0n && /[1-9]/.test(part);
  return `${isTiny ? '< ' : ''}${centsText(isTiny ? 1n : cents, locale)}`;
}

function centsText(cents: bigint, locale: string | undefined): string {
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    numberingSystem: 'latn',
  });
  const fraction = (cents % 100n).toString().padStart(2, '0');
  const parts = format.formatToParts(cents / 100n);
  return parts.map(({ type, value }) => (type === 'fraction' ? fraction : value)).join('');
}
