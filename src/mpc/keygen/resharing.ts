import type { Group, GroupPoint } from '#mpc/group.ts';
import { lagrangeAtZero } from '#mpc/lagrange.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';

/**
 * How a key that exists gets new shares (Desmedt and Jajodia's redistribution of shares, made verifiable by Feldman's commitments as Wong,
 * Wang and Wing do): as many of its holders as sign together each deal their part of the secret to everybody, and what a party receives adds
 * up to its new share. The key stays; old and new shares do not go together; and a party that has lost its share, or never had one, gets one
 * as good as the others', without the key's ever being in one place.
 */
export interface Resharing<P extends GroupPoint<P>> {
  /** In order, as many as the threshold says. */
  readonly dealers: readonly PartyIndex[];
  /** Of the new shares. */
  readonly epoch: number;
  /** What this party deals: its old share times Lagrange's coefficient. Null where it only receives. */
  readonly part: bigint | null;
  /** Every dealer's part times the generator, as the old public shares have it. */
  readonly points: ReadonlyMap<PartyIndex, P>;
}

/** The part of each dealer, out of the old public shares; null where one of them has none that is a point. */
export function partsOf<P extends GroupPoint<P>>(
  group: Group<P>,
  publicShares: ReadonlyMap<PartyIndex, Uint8Array>,
  dealers: readonly PartyIndex[],
): ReadonlyMap<PartyIndex, P> | null {
  const parts = new Map<PartyIndex, P>();
  for (const dealer of dealers) {
    const share = group.parsePoint(publicShares.get(dealer) ?? new Uint8Array());
    if (share === null) return null;
    parts.set(dealer, share.multiplyUnsafe(lagrangeAtZero(group.order, dealer, dealers)));
  }
  return parts;
}

/** The part of the holder of a share. */
export function partOf<P extends GroupPoint<P>>(
  { order }: Group<P>,
  { self, secret }: Pick<KeyShare, 'self' | 'secret'>,
  dealers: readonly PartyIndex[],
): bigint {
  return (lagrangeAtZero(order, self, dealers) * secret) % order;
}
