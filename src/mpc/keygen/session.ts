import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Group, GroupPoint } from '#mpc/group.ts';
import type { Resharing } from '#mpc/keygen/resharing.ts';
import { isAscending, type PartyIndex, parsePartyIndex } from '#mpc/party.ts';
import { taggedHash } from '#mpc/transcript.ts';

/**
 * One run of the key generation, or of the resharing of an existing key. All of its data comes from
 * this co-signer; the sid contains a nonce of every party.
 */
export interface KeygenSession<P extends GroupPoint<P>> {
  readonly scheme: KeyScheme;
  readonly group: Group<P>;
  /** 32 bytes, never used twice. */
  readonly sid: Uint8Array;
  readonly self: PartyIndex;
  /** Parties 1 to n, all of them. */
  readonly parties: readonly PartyIndex[];
  readonly threshold: number;
  /** Present only for the resharing of an existing key. */
  readonly resharing?: Resharing<P>;
}

/** Throws for a session that this co-signer must not start. */
export function checkKeygenSession<P extends GroupPoint<P>>(session: KeygenSession<P>): void {
  const { sid, self, parties, threshold } = session;
  if (sid.length !== 32) throw new Error('a sid does not have 32 bytes');
  const complete = parties.every((party, i) => party === parsePartyIndex(i + 1));
  if (!complete || !parties.includes(self)) throw new Error('parties are not 1 to n, or do not include self');
  if (!Number.isInteger(threshold) || threshold < 2 || threshold > parties.length) {
    throw new Error('a threshold is less than 2 or more than the number of parties');
  }
  if (session.resharing !== undefined) checkResharing(session, session.resharing);
}

function checkResharing<P extends GroupPoint<P>>(
  { self, parties, threshold }: KeygenSession<P>,
  { dealers, part, points }: Resharing<P>,
): void {
  const known = dealers.every((dealer) => parties.includes(dealer) && points.has(dealer));
  if (!isAscending(dealers) || !known || dealers.length !== threshold)
    throw new Error('dealers are not sorted, not known, or fewer or more than the threshold');
  if (dealers.includes(self) !== (part !== null))
    throw new Error('a dealer has no part, or a party that does not deal has one');
}

/** Returns the parties that deal, in ascending order. For a new key these are all parties. */
export function dealersOf<P extends GroupPoint<P>>({
  parties,
  resharing,
}: Pick<KeygenSession<P>, 'parties' | 'resharing'>): readonly PartyIndex[] {
  return resharing?.dealers ?? parties;
}

/**
 * Com of the commit-and-reveal: H(sid, party, package, salt). It names the party, so no other party
 * can copy a commitment.
 */
export function commitToPackage(
  { sid }: { readonly sid: Uint8Array },
  party: PartyIndex,
  opening: { readonly encoded: Uint8Array; readonly salt: Uint8Array },
): Uint8Array {
  return taggedHash('keygen/commitment', sid, Uint8Array.of(party), opening.encoded, opening.salt);
}

export function peersOf({
  self,
  parties,
}: {
  readonly self: PartyIndex;
  readonly parties: readonly PartyIndex[];
}): readonly PartyIndex[] {
  return parties.filter((party) => party !== self);
}
