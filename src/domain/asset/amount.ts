/**
 * An amount: a decimal string of the chain's smallest unit on the wire and `bigint` inside (spec
 * part 4). No float and no `Number` is used: 1e18 wei already exceeds the precision of a double.
 */
export type Amount = string & { readonly __brand: 'Amount' };

export const UINT256_MAX = (1n << 256n) - 1n;

/** Lamports of Solana and units of its tokens are 64 bits. */
export const UINT64_MAX = 2n ** 64n - 1n;

/**
 * No sign, leading zero, point or exponent. 78 digits hold 2^256 - 1; longer text is refused before
 * it is parsed.
 */
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

/**
 * Returns the amount, or null when the text is not a plain decimal integer from 0 to `max`.
 *
 * @param max the largest amount that the chain can carry, in its smallest unit
 */
export function parseAmount(text: string, max: bigint = UINT256_MAX): Amount | null {
  return DECIMAL.test(text) && BigInt(text) <= max ? (text as Amount) : null;
}

export function amountOf(units: bigint): Amount {
  const amount = parseAmount(units.toString());
  if (amount === null) throw new Error('an amount is outside 0..2^256-1');
  return amount;
}

export function unitsOf(amount: Amount | SignedAmount): bigint {
  return BigInt(amount);
}

/** The change of a balance: an amount, with a `-` for a decrease. */
export type SignedAmount = string & { readonly __brand: 'SignedAmount' };

/** Sums of amounts have a few digits more. */
const SIGNED_DECIMAL = /^(?:0|-?[1-9][0-9]{0,89})$/;

/** Returns the signed amount, or null when the text is none. */
export function parseSignedAmount(text: string): SignedAmount | null {
  return SIGNED_DECIMAL.test(text) ? (text as SignedAmount) : null;
}

export function signedAmountOf(units: bigint): SignedAmount {
  return units.toString() as SignedAmount;
}

/**
 * Returns the exact amount as every surface shows it: `1234567.5` is `1 234 567.5`. Groups are
 * separated by a narrow space that does not break (U+202F), decimals by a point. No locale reads
 * this as another number, unlike `1,500` and `1.500`.
 */
export function readableAmount(units: bigint, decimals: number): string {
  const [whole = '', ...fraction] = decimalText(units < 0n ? -units : units, decimals).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, GROUP_SPACE);
  return `${units < 0n ? '−' : ''}${[grouped, ...fraction].join('.')}`;
}

const GROUP_SPACE = '\u202f';

/**
 * Returns the exact decimal text in whole units, such as `1.5` or `0.000001`, without groups.
 * People read `readableAmount`; programs use the smallest unit.
 */
export function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const shown = fraction.replace(/0+$/, '');
  return shown === '' ? whole : `${whole}.${shown}`;
}
