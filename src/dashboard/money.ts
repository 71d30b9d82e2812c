/**
 * Amounts, fiat values and typed amounts, in the locale of the browser. Amounts are whole numbers of the smallest unit and stay exact: no
 * float takes part, because 18 decimals do not fit into one.
 */

interface NumberStyle {
  readonly whole: Intl.NumberFormat;
  /** Between the whole part and the decimals. */
  readonly decimal: string;
  /** Between groups of digits of the whole part. */
  readonly group: string;
}

const STYLES = new Map<string | undefined, NumberStyle>();

/** @param locale that of the browser when undefined. Digits are those of every keyboard in each locale. */
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

/** Spaces and apostrophes come in several characters, of which a keyboard has one. */
function plain(text: string): string {
  return text.replaceAll(/[\u00a0\u202f\u2009]/g, ' ').replaceAll('’', "'");
}

/**
 * Returns a typed amount in the smallest unit; null for what is no amount, has more decimals than the asset, or can be read in two ways. A
 * group separator is accepted only where it groups as the locale does: `0,5` is five tenths in German, and nothing in English.
 */
export function parseUnits(typed: string, decimals: number, locale?: string): string | null {
  const { whole: format, decimal, group } = styleOf(locale);
  const [whole = '', part = '', ...more] = plain(typed.trim()).split(plain(decimal));
  const digits = whole.replaceAll(plain(group), '');
  if (more.length > 0 || !/^\d+$/.test(digits) || !/^\d*$/.test(part) || part.length > decimals) return null;
  if (digits !== whole && plain(format.format(BigInt(digits))) !== whole) return null;
  return (digits + part.padEnd(decimals, '0')).replace(/^0+(?=\d)/, '');
}

/** Returns what a typed amount looks like, for the error of one that cannot be read. */
export function amountHint(decimals: number, locale?: string): string {
  const example =
    decimals === 0 ? unitsText('1234', 0, locale) : unitsText(`12345${'0'.repeat(decimals - 1)}`, decimals, locale);
  return `Enter an amount such as ${example}, with at most ${decimals} decimals.`;
}

/** Returns a value in US dollars with two decimals; null for one that is not known. What rounds to nothing is shown as less than a cent. */
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
