/** The number of a co-signer: also the x coordinate of its Shamir share, hence never zero. */
export type PartyIndex = number & { readonly __brand: 'PartyIndex' };

/** Ours: five co-signers at most. Node ids come from a fixed allow-list, not from the wire. */
export const MAX_PARTY_INDEX = 5;

/** The one door to a PartyIndex: an integer from 1 to 5, or null. */
export function parsePartyIndex(candidate: number): PartyIndex | null {
  if (!Number.isInteger(candidate) || candidate < 1 || candidate > MAX_PARTY_INDEX) return null;
  return candidate as PartyIndex;
}

/** In order, and each once. */
export function isAscending(parties: readonly PartyIndex[]): boolean {
  return parties.every((party, i) => i === 0 || (parties[i - 1] ?? party) < party);
}

/**
 * How many of n nodes have to sign together at least: so many that any two groups share a node. What was signed for a transaction is written
 * down by those who signed it; two groups without a common node would sign two payments for one.
 */
export function minSigners(parties: number): number {
  return Math.floor(parties / 2) + 1;
}
