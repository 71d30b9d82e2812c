/**
 * Amounts are decimal strings of the chain's smallest unit on the wire and `bigint` inside (spec part 4). There is no
 * float and no `Number` on the way: 1e18 wei is already beyond what a double holds.
 */
export type Amount = string & { readonly __brand: 'Amount' };

export const UINT256_MAX = (1n << 256n) - 1n;

/** No sign, no leading zero, no point, no exponent. 78 digits hold 2^256 - 1; longer text is refused unread. */
const DECIMAL = /^(?:0|[1-9][0-9]{0,77})$/;

/**
 * @param max the largest amount that the chain can carry, in its smallest unit
 * @returns the amount, or null when the text is not a plain decimal integer from 0 to `max`
 */
export function parseAmount(text: string, max: bigint = UINT256_MAX): Amount | null {
  return DECIMAL.test(text) && BigInt(text) <= max ? (text as Amount) : null;
}

export function amountOf(units: bigint): Amount {
  const amount = parseAmount(units.toString());
  if (amount === null) throw new Error('an amount is between 0 and 2^256 - 1');
  return amount;
}

export function unitsOf(amount: Amount | SignedAmount): bigint {
  return BigInt(amount);
}

/** What a balance changes by: as an amount, and with a `-` where it becomes less. */
export type SignedAmount = string & { readonly __brand: 'SignedAmount' };

export function signedAmountOf(units: bigint): SignedAmount {
  return units.toString() as SignedAmount;
}

/** Whole coins, exactly: `1.5`, `0.000001`. For people; programs take the units. */
export function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - decimals), digits.slice(digits.length - decimals)];
  const shown = fraction.replace(/0+$/, '');
  return shown === '' ? whole : `${whole}.${shown}`;
}
