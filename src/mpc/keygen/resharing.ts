import type { Group, GroupPoint } from '#mpc/group.ts';
import { lagrangeAtZero } from '#mpc/lagrange.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { multiplySecrets, type SecretScalar } from '#mpc/secret-scalar.ts';
import type { KeyShare } from '#mpc/share.ts';

/**
 * Ours: how far the epoch of new shares may be above the newest that a co-signer has. A dealing
 * that fails at some co-signers leaves its epoch at the others, so epochs may have gaps. Without a
 * bound, one request could use up all epochs, and no share could be replaced again.
 */
export const MAX_EPOCH_STEP = 16;

/**
 * A resharing gives an existing key new shares (Desmedt and Jajodia's redistribution of shares,
 * made verifiable by Feldman's commitments as Wong, Wang and Wing do): as many of its holders as
 * sign together each deal their part of the secret to all parties, and the values that a party
 * receives add up to its new share. The key stays the same; old and new shares do not work
 * together; and a party that lost its share, or never had one, gets an equally valid one, while the
 * key is never in one place.
 */
export interface Resharing<P extends GroupPoint<P>> {
  /** In order, as many as the threshold. */
  readonly dealers: readonly PartyIndex[];
  /** The epoch of the new shares. */
  readonly epoch: number;
  /**
   * The value that this party deals: its old share times Lagrange's coefficient. Null when it only
   * receives.
   */
  readonly part: SecretScalar | null;
  /** Every dealer's part times the generator, from the old public shares. */
  readonly points: ReadonlyMap<PartyIndex, P>;
}

/**
 * Returns the part of each dealer from the old public shares, or null when one of them is not a
 * point.
 */
export function partsOf<P extends GroupPoint<P>>(
  group: Group<P>,
  publicShares: ReadonlyMap<PartyIndex, Uint8Array>,
  dealers: readonly PartyIndex[],
): ReadonlyMap<PartyIndex, P> | null {
  const parts = new Map<PartyIndex, P>();
  for (const dealer of dealers) {
    const share = group.parsePoint(publicShares.get(dealer) ?? new Uint8Array());
    if (share === null) return null;
    parts.set(dealer, group.multiplyPublic(share, lagrangeAtZero(group.order, dealer, dealers)));
  }
  return parts;
}

/** Returns the part of the holder of a share. */
export function partOf<P extends GroupPoint<P>>(
  { order, secrets }: Group<P>,
  { self, secret }: Pick<KeyShare, 'self' | 'secret'>,
  dealers: readonly PartyIndex[],
): SecretScalar {
  return multiplySecrets(secrets, secrets.of(lagrangeAtZero(order, self, dealers)), secret);
}
