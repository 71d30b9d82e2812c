import { ed25519 } from '@noble/curves/ed25519.js';
import { getBase58Encoder } from '@solana/kit';
import type { MessageVerdict, ClaimFault, MessageClaim } from '#chains/message-verdict.ts';
import { notCanonical, OTHER_SIGNER, VALID } from '#chains/message-verdict.ts';
import { isBy, SIGNATURE_BYTES, signatureText } from '#chains/solana/rules/assemble.ts';
import { offchainMessage, readMessage } from '#chains/solana/rules/message.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** 64 bytes have at most 88 digits. The limit comes before the decoder, whose time grows with the square. */
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/**
 * Verifies an off-chain message (sRFC 3, version 1, one signatory). Strict as the network's own
 * verification is: S below the order, no key and no nonce point of small order, no cofactor.
 */
export function verifyMessage(claim: MessageClaim): Result<MessageVerdict, ClaimFault> {
  const { chain, address, message, signature } = claim;
  const format = 'solana-offchain';
  if (claim.format !== null && claim.format !== format) {
    return refused({ field: 'format', detail: `The format is not supported on this chain. Use ${format}.` });
  }
  const read = readMessage(message);
  if (!read.ok) return refused({ field: 'message', detail: read.refusal });
  const bytes = offchainMessage({ chain, from: address, ...read.value });
  if (bytes === null) throw new Error('a message that was read, of a wallet that was read, is in canonical form');
  const given = BASE58.test(signature) ? Uint8Array.from(getBase58Encoder().encode(signature)) : null;
  if (given?.length !== SIGNATURE_BYTES || signatureText(given) !== signature) {
    return refused({ field: 'signature', detail: 'Must be 64 bytes in base58.' });
  }
  const verdict = hasWeakNonce(given) ? WEAK_NONCE : isBy(address, bytes, given) ? VALID : OTHER_SIGNER;
  return accepted({ format, verdict });
}

const WEAK_NONCE = notCanonical('The nonce point of the signature has a small order.');

/** `verify_strict`, which the network uses, refuses such a point. Runtimes differ in it. */
function hasWeakNonce(signature: Uint8Array): boolean {
  try {
    return ed25519.Point.fromBytes(signature.subarray(0, SIGNATURE_BYTES / 2)).isSmallOrder();
  } catch {
    // No point at all: no equation holds for it.
    return false;
  }
}
