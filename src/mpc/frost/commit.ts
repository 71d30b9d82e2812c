import { concatBytes } from '@noble/hashes/utils.js';
import { SingleUse } from '#mpc/single-use.ts';
import { nonceFrom } from '#mpc/frost/ciphersuite.ts';
import type { FrostShare } from '#mpc/frost/suite.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { freshBytes } from '#mpc/secp256k1.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * One signature by one signer. All of it is data of this co-signer; the message is fixed before a
 * nonce is drawn.
 */
export interface FrostSession {
  /** The share of exactly the key that the signature is under: already derived and tweaked. */
  readonly share: FrostShare;
  /** Sorted, includes the share's own party; as many as the threshold. */
  readonly signers: readonly PartyIndex[];
  /** The message that a verifier uses. */
  readonly message: Uint8Array;
}

export interface Nonces {
  readonly hiding: SecretScalar;
  readonly binding: SecretScalar;
}

interface AfterCommit {
  readonly session: FrostSession;
  readonly nonces: Nonces;
  /** The own commitments, encoded: hiding, binding. */
  readonly commitments: Uint8Array;
}

/** Memory only, single use: one nonce with two messages reveals the share. */
export type CommitState = SingleUse<AfterCommit>;

/**
 * RFC 9591 section 5.1, Round One - Commitment: "each participant generates nonces and their
 * corresponding public commitments". A nonce is a hash of fresh bytes and the share (section 4.1),
 * so that a weak random source alone does not repeat one.
 *
 * Throws on an inconsistent session.
 */
export function commitToNonces(session: FrostSession): { readonly state: CommitState; readonly message: Uint8Array } {
  const { share, signers } = session;
  const ascending = signers.every((signer, i) => i === 0 || (signers[i - 1] ?? signer) < signer);
  if (!ascending || !signers.includes(share.self))
    throw new Error('signers are not sorted, not distinct, or do not include self');
  if (signers.length !== share.threshold) throw new Error('fewer or more signers than the threshold');
  const nonces = { hiding: nonce(share), binding: nonce(share) };
  const message = inGroupOf(share.scheme, ({ multiplyGenerator, encodePoint }) =>
    concatBytes(encodePoint(multiplyGenerator(nonces.hiding)), encodePoint(multiplyGenerator(nonces.binding))),
  );
  // State and message are separate copies: a change of the message in transit does not change the
  // own commitments of this co-signer.
  return { state: new SingleUse({ session, nonces, commitments: message.slice() }), message };
}

const RANDOM_BYTES = 32;

/** RFC 9591, section 4.1: "nonce_generate(secret) ... return H3(random_bytes || secret_enc)". */
function nonce({ scheme, secret }: FrostShare): SecretScalar {
  const encoded = inGroupOf(scheme, ({ secrets }) => secrets.reveal(secret));
  const input = concatBytes(freshBytes(RANDOM_BYTES), encoded);
  const drawn = nonceFrom(scheme, input);
  encoded.fill(0);
  input.fill(0);
  return drawn;
}
