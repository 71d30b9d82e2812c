import { type Aborted, abortedBy, abortedByOneOf, bannedBy, completed, type RoundResult } from '#mpc/abort.ts';
import { decodeRound2, encodePartial, type Round2Message } from '#mpc/ecdsa/messages.ts';
import { type CheckedSession, commitToNonce, lagrange, messageContext, zeroShare } from '#mpc/ecdsa/session.ts';
import type { AfterRound2, Round2State, WithPeer } from '#mpc/ecdsa/sign-round2.ts';
import { finishAsBob } from '#mpc/ecdsa/vole.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { modOrder } from '#curve/scalar.ts';
import { encodePoint, parsePoint, Point, scalarFromDigest, SECRETS, shortWeight } from '#mpc/secp256k1.ts';
import { addSecrets, multiplySecrets, type SecretScalar, sumSecrets } from '#mpc/secret-scalar.ts';
import { DIGEST_BYTES, equalBytes } from '#mpc/transcript.ts';

/**
 * Round 3, Protocol 3.6, steps 8 and 9: check every peer's opening and products, then return the
 * partial signature R (33) || u (32) || w (32).
 *
 * THE STATE SIGNS ONE DIGEST. Two partials of one state on two digests reveal the private key. The
 * caller computes the digest itself, before round 1 (a digest chosen after R is known makes the
 * session a presignature, with the attacks on derived keys of Groth and Shoup, eprint 2021/1330),
 * binds it in the sid, and has written its sign-once row.
 *
 * Refuses, in this order: a message that is missing, malformed, of another session, of another view
 * of round 1, or opens another nonce (no ban); a failed vector OLE or gamma check (BAN); key shares
 * that do not add up to the key, R = 0 (no ban).
 */
export function signRound3(
  state: Round2State,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
  digest: Uint8Array,
): RoundResult<Uint8Array> {
  const own = state.take();
  if (digest.length !== DIGEST_BYTES) throw new Error('a digest does not have 32 bytes');
  try {
    return partialOf(own, inbox, digest);
  } finally {
    for (const secret of secretsOf(own)) secret.wipe();
  }
}

/** Returns the secrets of this signature alone. The share of the key is not among them. */
function secretsOf({ r, phi, keyShare, withPeer }: AfterRound2): readonly SecretScalar[] {
  return [r, phi, keyShare, ...[...withPeer.values()].flatMap(({ chi, c }) => [chi, ...c])];
}

function partialOf(
  own: AfterRound2,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
  digest: Uint8Array,
): RoundResult<Uint8Array> {
  const { session, r, phi, keyShare } = own;
  // Before a product is computed: every opening. (0xCarbon counts it to 'steps 8 and 9'.)
  const received = receiveRound2(own, inbox);
  if (!received.ok) return received;

  let R = own.R;
  let key = own.publicShare;
  let mask = phi;
  let productU = SECRETS.of(0n);
  let productV = SECRETS.of(0n);
  for (const [peer, message] of received.value) {
    const kept = keptFor(own, peer);

    // Step 8: finish the vector OLE as Bob: d^u, d^v.
    const d = finishAsBob(kept.vole, message.reply);
    if (d === null) return bannedBy(peer, 'sign-3/vole');
    const failed = failedGammaCheck(kept.chi, d, message);
    if (failed !== null) return bannedBy(peer, failed);

    // Step 9, the sums: R, the key, phi_i + sum psi_j,i, and c + d of every peer.
    R = R.add(message.R);
    key = key.add(message.publicShare);
    mask = addSecrets(SECRETS, mask, message.psi);
    productU = sumSecrets(SECRETS, [productU, kept.c[0], d[0]]);
    productV = sumSecrets(SECRETS, [productV, kept.c[1], d[1]]);
  }

  // Step 9: the key shares must sum to the (tweaked) public key; R = sum R_j must not be the
  // identity, nor r_x zero.
  if (!key.equals(session.tweakedKey)) return wrongKeyShares(own);
  if (R.is0()) return abortedByOneOf(session.peers, 'sign-3/nonce-sum');
  const rx = modOrder(R.toAffine().x);
  if (rx === 0n) return abortedByOneOf(session.peers, 'sign-3/nonce-sum');

  // Step 9: u_i = r_i (phi_i + sum psi_j,i) + sum (c^u + d^u), v_i alike with sk_i, w_i = H(m)
  // phi_i + r_x v_i.
  const u = SECRETS.multiplyAdd(r, mask, productU);
  const v = SECRETS.multiplyAdd(keyShare, mask, productV);
  const signed = multiplySecrets(SECRETS, SECRETS.of(scalarFromDigest(digest)), phi);
  const w = SECRETS.multiplyAdd(SECRETS.of(rx), v, signed);
  return completed(encodePartial(encodePoint(R), u, w));
}

/**
 * Step 8: chi R_j - Gamma^u = d^u G and chi pk_j - Gamma^v = d^v G, so P_j put into the vector OLE
 * exactly the nonce that it committed to and the key share that it shows. (0xCarbon/DKLs23 notes
 * that step 8 prints the Lagrange term alone in the second equation, where page 21 has pk_j with
 * the zero share; only the latter can hold.)
 *
 * Both at once: chi (R_j + w pk_j) = (d^u + w d^v) G + Gamma^u + w Gamma^v for a weight that is
 * drawn after P_j sent all of its values. The errors of the two equations are two points E^u and
 * E^v. Unless both are the identity, at most one weight has E^u + w E^v = 0, and it is drawn with
 * probability 2^-128. Products with chi and with d are constant-time; those with the weight are
 * short and of public points. When the check fails, each equation is checked alone, so that the
 * failure keeps its name. A peer that guesses one of the choice bits can make d^u zero, or both.
 */
function failedGammaCheck(
  chi: SecretScalar,
  d: readonly [SecretScalar, SecretScalar],
  message: Round2Message,
): string | null {
  const { R, publicShare, gammaU, gammaV } = message;
  const holds = (point: Point, gamma: Point, product: SecretScalar): boolean =>
    point.multiply(chi).equals(Point.multiple(product).add(gamma));
  const weight = shortWeight();
  const both = R.add(publicShare.multiplyPublic(weight));
  const product = SECRETS.multiplyAdd(SECRETS.of(weight), d[1], d[0]);
  if (holds(both, gammaU.add(gammaV.multiplyPublic(weight)), product)) return null;
  if (!holds(R, gammaU, d[0])) return 'sign-3/gamma-u';
  if (!holds(publicShare, gammaV, d[1])) return 'sign-3/gamma-v';
  throw new Error('two equations that hold do not hold together');
}

function receiveRound2(
  own: AfterRound2,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): { readonly ok: true; readonly value: ReadonlyMap<PartyIndex, Round2Message> } | Aborted {
  const { session } = own;
  const received = new Map<PartyIndex, Round2Message>();
  for (const peer of session.peers) {
    const bytes = inbox.get(peer);
    if (bytes === undefined) return abortedBy(peer, 'sign-3/missing');
    const message = decodeRound2(bytes);
    if (message === null) return abortedBy(peer, 'sign-3/malformed');
    if (!equalBytes(message.context, messageContext(session, 2, [peer, session.self])))
      return abortedBy(peer, 'sign-3/context');
    // With three signers or more, the party that sent two commitments and the party that misreports
    // them are indistinguishable.
    if (!equalBytes(message.echo, own.echo))
      return abortedByOneOf([peer, ...session.peers.filter((other) => other !== peer)], 'sign-3/echo');
    // The opening of the commitment of step 6: R_j was fixed before any R was shown.
    if (!equalBytes(commitToNonce(session, peer, message), keptFor(own, peer).commitment))
      return abortedBy(peer, 'sign-3/commitment');
    received.set(peer, message);
  }
  return completed(received);
}

/**
 * Checks first, before a peer is blamed, that our own share matches our public share. A corrupted
 * record must not make a peer look like a cheater.
 */
function wrongKeyShares({ session, publicShare }: AfterRound2): Aborted {
  const registered = parsePoint(session.publicShares.get(session.self)!);
  if (registered === null) throw new Error('our own public share is not a point');
  const lambda = lagrange(session);
  const blinding = addSecrets(SECRETS, SECRETS.of(modOrder(lambda * session.tweak)), zeroShare(session));
  const expected = registered.multiplyPublic(lambda).add(Point.multiple(blinding));
  if (!expected.equals(publicShare)) throw new Error('our own share does not belong to our public share');
  return abortedByOneOf(session.peers, 'sign-3/key-shares');
}

function keptFor(
  own: { readonly session: CheckedSession; readonly withPeer: ReadonlyMap<PartyIndex, WithPeer> },
  peer: PartyIndex,
): WithPeer {
  const kept = own.withPeer.get(peer);
  if (kept === undefined) throw new Error(`round 2 kept no state for party ${peer}`);
  return kept;
}
