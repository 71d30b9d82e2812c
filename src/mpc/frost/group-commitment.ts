import type { CurvePoint, CurvePointCons } from '@noble/curves/abstract/curve.js';
import { mulAddUnsafe } from '@noble/curves/abstract/curve.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1, secp256k1_hasher } from '@noble/curves/secp256k1.js';
import { bytesToNumberLE, concatBytes } from '@noble/curves/utils.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { FrostKey } from '#mpc/frost/suite.ts';
import { ED25519_SUITE, TAPROOT_SUITE } from '#mpc/frost/suite.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** What everybody knows of a signature in the making. */
export interface PublicTurn {
  readonly key: FrostKey;
  readonly message: Uint8Array;
  /** Of each signer, by ascending index: hiding, binding. */
  readonly commitments: ReadonlyMap<PartyIndex, Uint8Array>;
}

/**
 * The first half of a signature, R as its standard encodes it, out of public values alone. noble's aggregation proves each commitment, and
 * the group's key, to be of prime order before it adds them up, which takes longer than all the rest of it; whoever verifies the whole
 * signature by its standard, as `aggregate` does, needs no such proof.
 *
 * Throws for commitments that are no points.
 */
export function groupCommitment(turn: PublicTurn): Uint8Array {
  const { scheme, publicKey } = turn.key;
  if (scheme === 'frost-ed25519') return sumOf(EDWARDS, publicKey, turn).toBytes();
  // BIP-340 knows a point by its x alone: the one with the even y stands for the key, and of R the x is what is signed with.
  const evenKey = concatBytes(Uint8Array.of(2), publicKey.subarray(1));
  return sumOf(SECP256K1, evenKey, turn).toBytes().slice(1);
}

/** The group of a ciphersuite, and its functions, RFC 9591 section 6: H1 onto the scalars, H4 and H5 onto bytes. */
interface Ciphersuite<P extends CurvePoint<bigint, P>> {
  readonly Point: CurvePointCons<P>;
  /** Each point times its factor, added up; in a time that depends on them. */
  readonly sumOfProducts: (points: readonly P[], factors: readonly bigint[]) => P;
  readonly h1: (bytes: Uint8Array) => bigint;
  readonly h4: (bytes: Uint8Array) => Uint8Array;
  readonly h5: (bytes: Uint8Array) => Uint8Array;
}

const EDWARDS: Ciphersuite<InstanceType<typeof ed25519.Point>> = {
  Point: ed25519.Point,
  sumOfProducts: (points, factors) => mulAddUnsafe(ed25519.Point, [...points], [...factors]),
  h1: (bytes) => ed25519.Point.Fn.create(bytesToNumberLE(sha512(prefixed(ED25519_SUITE, 'rho', bytes)))),
  h4: (bytes) => sha512(prefixed(ED25519_SUITE, 'msg', bytes)),
  h5: (bytes) => sha512(prefixed(ED25519_SUITE, 'com', bytes)),
};

const SECP256K1: Ciphersuite<InstanceType<typeof secp256k1.Point>> = {
  Point: secp256k1.Point,
  // Two by two: a pair shares its doublings, and the endomorphism of the curve, which noble uses for a pair alone, leaves half of them.
  sumOfProducts: (points, factors) => {
    let sum = secp256k1.Point.ZERO;
    for (let i = 0; i < points.length; i += 2) {
      const [one = secp256k1.Point.ZERO, other = secp256k1.Point.ZERO] = points.slice(i, i + 2);
      sum = sum.add(one.mulAddUnsafe(factors[i] ?? 0n, other, factors[i + 1] ?? 0n));
    }
    return sum;
  },
  h1: (bytes) => secp256k1_hasher.hashToScalar(bytes, { DST: `${TAPROOT_SUITE}rho` }),
  h4: (bytes) => sha256(prefixed(TAPROOT_SUITE, 'msg', bytes)),
  h5: (bytes) => sha256(prefixed(TAPROOT_SUITE, 'com', bytes)),
};

function prefixed(suite: string, label: string, bytes: Uint8Array): Uint8Array {
  return concatBytes(utf8ToBytes(`${suite}${label}`), bytes);
}

function sumOf<P extends CurvePoint<bigint, P>>(
  { Point, sumOfProducts, h1, h4, h5 }: Ciphersuite<P>,
  publicKey: Uint8Array,
  { message, commitments }: PublicTurn,
): P {
  const signers = [...commitments].map(([party, bytes]) => {
    const middle = bytes.length / 2;
    const points = { hiding: Point.fromBytes(bytes.slice(0, middle)), binding: Point.fromBytes(bytes.slice(middle)) };
    return { ...points, bytes, identifier: Point.Fn.toBytes(BigInt(party)) };
  });
  // Section 4.3, Encode Group Commitment List.
  const list = concatBytes(...signers.flatMap(({ identifier, bytes }) => [identifier, bytes]));
  // Section 4.4, Binding Factors Computation: "rho_input_prefix = group_public_key_enc || msg_hash || encoded_commitment_hash".
  const prefix = concatBytes(publicKey, h4(message), h5(list));
  const factors = signers.map(({ identifier }) => h1(concatBytes(prefix, identifier)));
  // Section 4.5, Group Commitment Computation: each hiding commitment, and each binding one times its factor.
  const bound = sumOfProducts(
    signers.map(({ binding }) => binding),
    factors,
  );
  return signers.reduce((sum, { hiding }) => sum.add(hiding), bound);
}
