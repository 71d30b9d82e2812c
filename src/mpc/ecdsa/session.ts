import type { PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { lagrangeAtZero } from '#mpc/lagrange.ts';
import { isAscending, MAX_PARTY_INDEX, type PartyIndex } from '#mpc/party.ts';
import { encodeScalar, ORDER } from '#curve/scalar.ts';
import { GENERATOR, parsePoint, type Point, secretFromDigest, SECRETS } from '#mpc/secp256k1.ts';
import { type SecretScalar, sumSecrets } from '#mpc/secret-scalar.ts';
import { DIGEST_BYTES, taggedHash } from '#mpc/transcript.ts';

/** One signature by one signer (DKLs23, eprint 2023/765, Protocol 3.6). */
export interface SignSession {
  /**
   * 32 bytes, unique forever (a repeated sid repeats the pads of the vector OLE), and bound to the
   * digest to sign.
   */
  readonly sid: Uint8Array;
  readonly self: PartyIndex;
  /** Sorted, includes self; as many as the threshold. */
  readonly signers: readonly PartyIndex[];
  /** Shamir share of self. */
  readonly secretShare: SecretScalar;
  /** 33 bytes: the group key before the tweak. */
  readonly publicKey: Uint8Array;
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
  /** Additive derivation: the signature is under publicKey + tweak G. 0n for none. */
  readonly tweak: bigint;
  readonly pairs: ReadonlyMap<PartyIndex, PairSetup>;
}

/** A session that passed the checks, with the values derived from it. */
export interface CheckedSession extends SignSession {
  /** Identifies the session in every hash: sid, key, tweak, signers, public shares. */
  readonly digest: Uint8Array;
  readonly peers: readonly PartyIndex[];
  /** The key to sign for: the group key plus tweak G. */
  readonly tweakedKey: Point;
}

/**
 * Protocol 3.6, step 4: the signers, their key and their set-ups are those of one signature.
 * Returns a checked session. All of its data comes from this co-signer, not from the wire: a fault
 * here is a bug and throws.
 */
export function checkSession(session: SignSession): CheckedSession {
  const { sid, self, signers, secretShare, publicKey, publicShares, tweak, pairs } = session;
  if (sid.length !== DIGEST_BYTES) throw new Error('a sid does not have 32 bytes');
  if (!isAscending(signers) || !signers.includes(self))
    throw new Error('signers are not sorted, not distinct, or do not include self');
  if (signers.length < 2 || signers.length > MAX_PARTY_INDEX)
    throw new Error('fewer than two or more than five signers');
  if (SECRETS.isZero(secretShare)) throw new Error('a secret share must not be zero');
  if (tweak < 0n || tweak >= ORDER) throw new Error('a tweak is outside 0..n-1');
  const peers = signers.filter((signer) => signer !== self);
  for (const peer of peers) {
    const pair = pairs.get(peer);
    if (pair === undefined || pair.self !== self || pair.peer !== peer) throw new Error(`no set-up with party ${peer}`);
  }
  const key = parsePoint(publicKey);
  if (key === null) throw new Error('the public key is not a point');
  const tweakedKey = tweak === 0n ? key : key.add(GENERATOR.multiplyPublic(tweak));
  if (tweakedKey.is0()) throw new Error('the tweaked key must not be the identity');
  const shares = signers.map((signer) => publicShares.get(signer));
  if (!shares.every((share) => share !== undefined)) throw new Error('a signer has no public share');
  // Ours: one digest of all terms. The sid of each sub-protocol is derived from it.
  const digest = taggedHash('ecdsa/session', sid, publicKey, encodeScalar(tweak), Uint8Array.from(signers), ...shares);
  return { ...session, digest, peers, tweakedKey };
}

export function pairWith(session: SignSession, peer: PartyIndex): PairSetup {
  const pair = session.pairs.get(peer);
  if (pair === undefined) throw new Error(`no set-up with party ${peer}`);
  return pair;
}

/**
 * Returns the first field of each message, which is ours. It is compared before any secret is used:
 * a message of another session, key, tweak, signer set, epoch, pair set-up, round or direction ends
 * the session WITHOUT a ban, so that a relay that swaps messages cannot make two honest co-signers
 * ban each other.
 */
export function messageContext(
  session: CheckedSession,
  round: number,
  [from, to]: readonly [PartyIndex, PartyIndex],
): Uint8Array {
  const { setupId } = pairWith(session, from === session.self ? to : from);
  return taggedHash('ecdsa/message', session.digest, setupId, Uint8Array.of(round, from, to));
}

/**
 * Returns the sid of one vector OLE (Protocol 3.6, steps 6 to 8): its direction is (Bob, Alice).
 * The paper puts the indices of both parties into it, too.
 */
export function voleSid(session: CheckedSession, [bob, alice]: readonly [PartyIndex, PartyIndex]): Uint8Array {
  const { setupId } = pairWith(session, bob === session.self ? alice : bob);
  return taggedHash('ecdsa/vole', session.digest, setupId, Uint8Array.of(bob, alice));
}

/**
 * Com of Protocol 3.6, step 6, in the random oracle model: H(session, opener, salt, R). It names
 * the opener, so it cannot be copied.
 */
export function commitToNonce(
  session: CheckedSession,
  opener: PartyIndex,
  opening: { readonly salt: Uint8Array; readonly encodedR: Uint8Array },
): Uint8Array {
  return taggedHash('ecdsa/nonce-commitment', session.digest, Uint8Array.of(opener), opening.salt, opening.encodedR);
}

/** Returns the Lagrange coefficient of self at zero over the signers (Protocol 3.6, step 7). */
export function lagrange({ self, peers }: CheckedSession): bigint {
  return lagrangeAtZero(ORDER, self, peers);
}

/**
 * zeta of Functionality 3.4, for step 7 of Protocol 3.6: one hash per pair, added by the lower
 * party and subtracted by the higher. All zetas sum to 0.
 */
export function zeroShare(session: CheckedSession): SecretScalar {
  const fragments = session.peers.map((peer) => {
    const fragment = secretFromDigest(taggedHash('ecdsa/zero-share', session.digest, pairWith(session, peer).zeroSeed));
    return session.self < peer ? fragment : SECRETS.negate(fragment);
  });
  return sumSecrets(SECRETS, fragments);
}

/**
 * Ours, against a signer that commits to different nonces: H(all nonce commitments of the session),
 * which is what each signer received in round 1.
 */
export function echoOf(session: CheckedSession, commitments: ReadonlyMap<PartyIndex, Uint8Array>): Uint8Array {
  const inOrder = session.signers.map((signer) => {
    const commitment = commitments.get(signer);
    if (commitment === undefined) throw new Error(`no commitment of party ${signer}`);
    return commitment;
  });
  return taggedHash('ecdsa/echo', session.digest, ...inOrder);
}
