import { ed25519 } from '@noble/curves/ed25519.js';
import { schnorr } from '@noble/curves/secp256k1.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { sha512 } from '@noble/hashes/sha2.js';
import { type Ciphersuite, EDWARDS, TAPROOT } from '#mpc/frost/ciphersuite.ts';
import type { FrostKey } from '#mpc/frost/suite.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { scalarFromDigest } from '#mpc/secp256k1.ts';

/** The public inputs of a signature. */
export interface SigningInputs {
  readonly key: FrostKey;
  readonly message: Uint8Array;
  /** The commitments of each signer, by ascending index: hiding, binding. */
  readonly commitments: ReadonlyMap<PartyIndex, Uint8Array>;
}

/** The values derived from these inputs. */
export interface BoundCommitments {
  /** The first half of a signature, R as its standard encodes it. */
  readonly commitment: Uint8Array;
  /** The factor of each signer's binding nonce. */
  readonly factors: ReadonlyMap<PartyIndex, bigint>;
  readonly challenge: bigint;
  /**
   * BIP-340 signs with points of an even y: for an R with an odd y all nonces change their sign,
   * and for such a key all shares.
   */
  readonly isNonceNegated: boolean;
  readonly isKeyNegated: boolean;
}

/** The first byte of the encoding of a point with an even y (SEC 1, section 2.3.3). */
const EVEN = 2;

/**
 * RFC 9591, sections 4.3 to 4.6: binds the commitments of all signers to each other and to the
 * message, from public values alone. noble's own functions parse each commitment and the group's
 * key, and prove them to be of prime order, in every call, which takes longer than all other work.
 * Here trusted commitments skip that proof: a signer trusts its own commitments, and a caller that
 * verifies the whole signature by its standard, as `aggregate` does, trusts all.
 *
 * Throws for commitments that are not points, and, when they are not trusted, for the identity and
 * for points that are not of prime order (section 3.1, DeserializeElement).
 */
export function bindCommitments(turn: SigningInputs, isTrusted: (signer: PartyIndex) => boolean): BoundCommitments {
  const { key, message } = turn;
  const { scheme, publicKey } = key;
  if (scheme === 'frost-ed25519') {
    const { commitment, factors } = bound(EDWARDS, publicKey, turn, isTrusted);
    // RFC 8032, section 5.1.6, step 4: "SHA512(dom2(F, C) || R || A || PH(M))", where dom2 is empty
    // and PH changes nothing.
    const hash = sha512(concatBytes(commitment, publicKey, message));
    const challenge = ed25519.Point.Fn.create(bytesToNumberLE(hash));
    return { commitment, factors, challenge, isNonceNegated: false, isKeyNegated: false };
  }
  // BIP-340 identifies a point by its x alone: the point with the even y represents the key, and
  // the signature contains only the x of R.
  const x = publicKey.subarray(1);
  const { commitment: encoded, factors } = bound(TAPROOT, concatBytes(Uint8Array.of(EVEN), x), turn, isTrusted);
  const commitment = encoded.slice(1);
  // BIP-340, Default Signing: "int(hashBIP0340/challenge(bytes(R) || bytes(P) || m)) mod n".
  const hash = schnorr.utils.taggedHash('BIP0340/challenge', commitment, x, message);
  const challenge = scalarFromDigest(hash);
  return { commitment, factors, challenge, isNonceNegated: encoded[0] !== EVEN, isKeyNegated: publicKey[0] !== EVEN };
}

function bound<P>(
  { parse, isElement, sum, encodeScalar: serialize, h1, h4, h5 }: Ciphersuite<P>,
  publicKey: Uint8Array,
  { message, commitments }: SigningInputs,
  isTrusted: (signer: PartyIndex) => boolean,
): { readonly commitment: Uint8Array; readonly factors: ReadonlyMap<PartyIndex, bigint> } {
  const signers = [...commitments].map(([party, bytes]) => {
    const middle = bytes.length / 2;
    const [hiding, binding] = [parse(bytes.slice(0, middle)), parse(bytes.slice(middle))];
    if (!isTrusted(party) && !(isElement(hiding) && isElement(binding))) throw new Error('a commitment is no element');
    return { party, hiding, binding, bytes, identifier: serialize(BigInt(party)) };
  });
  // Section 4.3, Encode Group Commitment List.
  const list = concatBytes(...signers.flatMap(({ identifier, bytes }) => [identifier, bytes]));
  // Section 4.4, Binding Factors Computation: "rho_input_prefix = group_public_key_enc || msg_hash
  // || encoded_commitment_hash".
  const prefix = concatBytes(publicKey, h4(message), h5(list));
  const pairs = signers.map((signer) => ({ ...signer, factor: h1(concatBytes(prefix, signer.identifier)) }));
  // Section 4.5, Group Commitment Computation: each hiding commitment, and each binding one times
  // its factor.
  return { commitment: sum(pairs), factors: new Map(pairs.map(({ party, factor }) => [party, factor])) };
}
