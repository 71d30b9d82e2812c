/**
 * Address poisoning: somebody makes an address that begins and ends like one that the vault pays to, and waits for it to be
 * copied from a history. People compare the first and last characters; so does this.
 */
const SHOWN_FIRST = 3;
const SHOWN_LAST = 4;

/** What is left of a hexadecimal address when only its ends are looked at; capitals say nothing. */
export function shapeOf(address: string): string {
  const digits = address.toLowerCase().replace(/^0x/, '');
  return `${digits.slice(0, SHOWN_FIRST)}…${digits.slice(-SHOWN_LAST)}`;
}

/** An address of a new transaction, and the known one that it could be taken for. */
export interface Lookalike {
  readonly address: string;
  readonly known: string;
}

/**
 * The first address that looks like a known one and is not known itself. One whose twin has been accepted by name is not counted.
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
