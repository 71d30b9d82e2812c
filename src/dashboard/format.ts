/** Amounts, times and addresses as people read them. Amounts are whole numbers of the smallest unit, and stay so. */

/** `1234500` of 3 decimals is `1,234.5`. */
export function unitsText(amount: string, decimals: number): string {
  const negative = amount.startsWith('-');
  const digits = (negative ? amount.slice(1) : amount).padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, ',');
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${negative ? '−' : ''}${whole}${part === '' ? '' : `.${part}`}`;
}

/** The other way: `1,234.5` of 3 decimals is `1234500`. Null for what is no such number, or has more digits than there are. */
export function unitsOf(text: string, decimals: number): string | null {
  const [, whole = '', part = ''] = /^(\d+)(?:\.(\d*))?$/.exec(text.replaceAll(',', '').trim()) ?? [];
  if (whole === '' || part.length > decimals) return null;
  return (whole + part.padEnd(decimals, '0')).replace(/^0+(?=\d)/, '');
}

/** The beginning and the end; the whole stands in the title of what shows it. */
export function abbreviated(address: string): string {
  return address.length <= 16 ? address : `${address.slice(0, 8)}…${address.slice(-6)}`;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function timeText(iso: string): string {
  return TIME.format(new Date(iso));
}

export function usdText(value: string | null): string | null {
  return value === null ? null : `$${value.replace(/\B(?=(\d{3})+(?=\.|$))/g, ',')}`;
}
