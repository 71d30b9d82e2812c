import { encodeRound1, SALT_BYTES } from '#mpc/ecdsa/messages.ts';
import {
  type CheckedSession,
  checkSession,
  commitToNonce,
  messageContext,
  pairWith,
  type SignSession,
  voleSid,
} from '#mpc/ecdsa/session.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { beginAsBob, type BobState } from '#mpc/ecdsa/vole.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodePoint, freshBytes, Point, SECRETS } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';

/** The state of a signer for one peer: chi, and its side of the vector OLE where it is Bob. */
export interface AsBob {
  readonly chi: SecretScalar;
  readonly vole: BobState;
}

export interface AfterRound1 {
  readonly session: CheckedSession;
  readonly r: SecretScalar;
  readonly phi: SecretScalar;
  readonly R: Point;
  readonly encodedR: Uint8Array;
  readonly salt: Uint8Array;
  readonly commitment: Uint8Array;
  readonly asBob: ReadonlyMap<PartyIndex, AsBob>;
}

/** Memory only, single use. */
export type Round1State = SingleUse<AfterRound1>;

/**
 * Round 1, Protocol 3.6, steps 4 to 6: one message for each other signer. Throws on an inconsistent
 * session, since all of it is data of this co-signer.
 */
export function signRound1(session: SignSession): {
  state: Round1State;
  messages: ReadonlyMap<PartyIndex, Uint8Array>;
} {
  const checked = checkSession(session);
  const { self, peers } = checked;

  // Step 5: sample the nonce share r_i and the inversion mask phi_i; R_i = r_i G.
  const r = SECRETS.random();
  const phi = SECRETS.random();
  const R = Point.multiple(r);
  const encodedR = encodePoint(R);

  // Step 6: commit to R_i. Ours: ONE commitment for all peers, echoed in round 2, so that a signer
  // cannot open different nonces to different peers; the paper commits to each peer separately and
  // lets the final verification fail.
  const salt = freshBytes(SALT_BYTES);
  const commitment = commitToNonce(checked, self, { salt, encodedR });

  // Step 6, continued: with each P_j start the vector OLE as Bob; its random output is chi_i,j.
  const asBob = new Map<PartyIndex, AsBob>();
  const messages = new Map<PartyIndex, Uint8Array>();
  for (const peer of peers) {
    const { b, message, state } = beginAsBob(voleSid(checked, [self, peer]), pairWith(checked, peer).asBob);
    asBob.set(peer, { chi: b, vole: state });
    messages.set(
      peer,
      encodeRound1({ context: messageContext(checked, 1, [self, peer]), commitment, extension: message }),
    );
  }
  return { state: new SingleUse({ session: checked, r, phi, R, encodedR, salt, commitment, asBob }), messages };
}
