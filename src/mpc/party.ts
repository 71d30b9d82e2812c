/** The number of a co-signer: also the x coordinate of its Shamir share, hence never zero. */
export type PartyIndex = number & { readonly __brand: 'PartyIndex' };

/** Ours: five co-signers at most. Their numbers come from a fixed allow-list, not from the wire. */
export const MAX_PARTY_INDEX = 5;

/** The only constructor of a PartyIndex. Returns an integer from 1 to 5, or null. */
export function parsePartyIndex(candidate: number): PartyIndex | null {
  if (!Number.isInteger(candidate) || candidate < 1 || candidate > MAX_PARTY_INDEX) return null;
  return candidate as PartyIndex;
}

/** Reports whether the parties are in order and distinct. */
export function isAscending(parties: readonly PartyIndex[]): boolean {
  return parties.every((party, i) => i === 0 || (parties[i - 1] ?? party) < party);
}

/**
 * Returns the minimum of co-signers that sign together: any two groups then share a co-signer. The
 * signers of a transaction store what they signed; two groups without a common co-signer could sign
 * two payments for one.
 */
export function minSigners(parties: number): number {
  return Math.floor(parties / 2) + 1;
}
