import { compressed, signerOf } from '#curve/signatures.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { suiteOf } from '#mpc/frost/suite.ts';
import { equalBytes } from '#mpc/transcript.ts';

/** The bytes of a whole signature: r and s of ECDSA, or the form of Ed25519 and of BIP-340. */
export const WHOLE_SIGNATURE_BYTES = 64;

/**
 * Reports whether a whole signature is by a key over a message. As many
 * co-signers as the signing threshold have then signed the message. A high s of ECDSA is refused,
 * as the chains refuse it.
 *
 * @param publicKey of the wallet, as its scheme encodes it
 * @param message a digest of 32 bytes, or the bytes themselves for Ed25519
 */
export async function isSignedBy(
  { scheme, publicKey }: { readonly scheme: KeyScheme; readonly publicKey: Uint8Array },
  message: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> {
  if (signature.length !== WHOLE_SIGNATURE_BYTES) return false;
  if (scheme !== 'ecdsa-secp256k1') return suiteOf(scheme).verify(signature, message, publicKey);
  const [r, s] = [signature.subarray(0, 32), signature.subarray(32)];
  return ([0, 1] as const).some((yParity) => {
    const signer = signerOf(message, { r, s, yParity });
    return signer !== null && equalBytes(compressed(signer), publicKey);
  });
}
