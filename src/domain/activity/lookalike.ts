/**
 * Address poisoning: an attacker makes an address that begins and ends like one that the vault pays
 * to, and waits until a user copies it from the history. People compare the first and last
 * characters, and so does this check.
 */
const SHOWN_FIRST = 3;
const SHOWN_LAST = 4;

/** Returns the ends of a hexadecimal address, in lower case. */
export function shapeOf(address: string): string {
  const digits = address.toLowerCase().replace(/^0x/, '');
  return `${digits.slice(0, SHOWN_FIRST)}…${digits.slice(-SHOWN_LAST)}`;
}

/** An address of a new transaction, and the known address that it resembles. */
export interface Lookalike {
  readonly address: string;
  readonly known: string;
}

/**
 * Returns the first unknown address that resembles a known one. An address whose known twin was
 * explicitly accepted does not count.
 *
 * @param knownLike known addresses of the same shape, in canonical spelling
 */
export function findLookalike(
  addresses: readonly string[],
  knownLike: (shape: string) => readonly string[],
  accepted: string | null,
): Lookalike | null {
  for (const address of addresses) {
    const known = knownLike(shapeOf(address));
    const twin = known.includes(address) ? undefined : known.find((one) => one !== accepted);
    if (twin !== undefined) return { address, known: twin };
  }
  return null;
}
