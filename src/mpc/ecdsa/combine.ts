import { abortedBy, abortedByOneOf, completed, type RoundResult } from '#mpc/abort.ts';
import { decodePartial, type PartialSignature } from '#mpc/ecdsa/messages.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodeScalar, modOrder, ORDER } from '#curve/scalar.ts';
import { encodePoint, invertScalar, type Point, scalarFromDigest } from '#mpc/secp256k1.ts';
import { DIGEST_BYTES, equalBytes } from '#mpc/transcript.ts';

export interface EcdsaSignature {
  /** 32 bytes. */
  readonly r: Uint8Array;
  /** 32 bytes, at most n/2. */
  readonly s: Uint8Array;
  /** Parity of the y coordinate of the nonce point that belongs to this s. */
  readonly yParity: 0 | 1;
}

/**
 * Protocol 3.6, step 10, by the coordinator, which holds no secret: s = sum w_i / sum u_i.
 * `publicKey` is the tweaked key. Never returns a signature that does not verify. Refuses: a
 * malformed partial (its sender); different nonces, u = 0, or a signature that does not verify (one
 * of the signers, and the protocol has no evidence which: DKLs23 has no identifiable abort). Throws
 * for fewer than two partials.
 */
export function combinePartials(input: {
  readonly publicKey: Uint8Array;
  readonly digest: Uint8Array;
  readonly partials: ReadonlyMap<PartyIndex, Uint8Array>;
}): RoundResult<EcdsaSignature> {
  const { publicKey, digest, partials } = input;
  if (digest.length !== DIGEST_BYTES) throw new Error('a digest does not have 32 bytes');
  if (partials.size < 2) throw new Error('a signature has fewer than two partials');
  // Step 9, the message of each signer. Ours: it carries R, which all signers must have equally.
  const signers = [...partials.keys()];
  const parsed: PartialSignature[] = [];
  for (const [signer, bytes] of partials) {
    const partial = decodePartial(bytes);
    if (partial === null) return abortedBy(signer, 'combine/malformed');
    parsed.push(partial);
  }
  const { encodedR, R } = parsed[0]!;
  if (!parsed.every((partial) => equalBytes(partial.encodedR, encodedR)))
    return abortedByOneOf(signers, 'combine/nonce');

  // Step 10: s = sum w_i / sum u_i.
  let u = 0n;
  let w = 0n;
  for (const partial of parsed) {
    u += partial.u;
    w += partial.w;
  }
  u = modOrder(u);
  const { x, y } = R.toAffine();
  // With x in n..p-1 (one in 2^128) the parity alone does not recover the key, and no supported
  // chain could encode it.
  if (u === 0n || x === 0n || x >= ORDER) return abortedByOneOf(signers, 'combine/degenerate');
  const s = modOrder(w * invertScalar(u));
  if (s === 0n) return abortedByOneOf(signers, 'combine/degenerate');

  // Ours. Low s (BIP-62, EIP-2): n - s belongs to -R, so the parity flips with it.
  const high = s > ORDER >> 1n;
  const lowS = high ? ORDER - s : s;
  const yParity = (y & 1n) === (high ? 1n : 0n) ? 0 : 1;
  // Step 10, end: the signature must verify.
  const signer = recovered(R, { r: x, s }, digest);
  if (signer.is0() || !equalBytes(encodePoint(signer), publicKey)) return abortedByOneOf(signers, 'combine/signature');
  return completed({ r: encodeScalar(x), s: encodeScalar(lowS), yParity });
}

/**
 * Returns the key that signed (SEC 1, section 4.1.6, step 1.6.1): "Q = r^-1 (sR - eG)". This
 * verification also proves the parity: R is a point here and is not recovered from its x.
 */
function recovered(R: Point, { r, s }: { readonly r: bigint; readonly s: bigint }, digest: Uint8Array): Point {
  const inverse = invertScalar(r);
  const e = scalarFromDigest(digest);
  return R.combine(modOrder(s * inverse), modOrder(-e * inverse));
}
