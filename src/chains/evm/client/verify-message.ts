import { secp256k1 } from '@noble/curves/secp256k1.js';
import type { Hex } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';
import type { MessageText } from '#chains/chain-adapter.ts';
import { addressOfPublicKey } from '#chains/evm/rules/address.ts';
import { messagePreimage, readMessage, textPreimage } from '#chains/evm/rules/message.ts';
import type { MessageVerdict, ClaimFault, MessageClaim, Verdict } from '#chains/message-verdict.ts';
import { notCanonical, VALID } from '#chains/message-verdict.ts';
import { plainTextFault } from '#chains/inspect/message-text.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** r || s || v. */
const SIGNATURE_BYTES = 65;
const V_OFFSET = 27;

const OTHER_SIGNER: Verdict = {
  valid: false,
  reason: 'other-signer',
  detail:
    'The signature was not made by the key of this address for this message. A contract wallet (EIP-1271) has no ' +
    'key. If there is a contract at this address, verify the signature with the contract.',
};

const CONTRACT_WALLET: Verdict = {
  valid: null,
  reason: 'contract-wallet',
  detail:
    'The signature of a key has 65 bytes. A longer signature is for a contract wallet (EIP-1271, ERC-6492), which ' +
    'this endpoint does not verify.',
};

/**
 * Verifies EIP-191 and EIP-712 for the key of an address. A signature has one spelling: 65 bytes,
 * s in the lower half (EIP-2), v 27 or 28, as `ecrecover` takes it.
 */
export function verifyMessage(claim: MessageClaim): Result<MessageVerdict, ClaimFault> {
  const read = readClaim(claim);
  if (!read.ok) return read;
  const { format, preimage } = read.value;
  const verdict = verdictOn(keccak256(preimage, 'bytes'), claim);
  return verdict.ok ? accepted({ format, verdict: verdict.value }) : verdict;
}

interface Preimage {
  readonly format: MessageText['format'];
  readonly preimage: Hex;
}

/** Returns what was signed, in the format of the claim. Even JSON of typed data may have been signed as a text. */
function readClaim({ chain, format, message }: MessageClaim): Result<Preimage, ClaimFault> {
  if (format !== null && format !== 'eip191' && format !== 'eip712') {
    return refused({ field: 'format', detail: 'The format is not supported on this chain. Use eip191 or eip712.' });
  }
  if (format === 'eip191') {
    const fault = plainTextFault(message);
    if (fault !== null) return refused({ field: 'message', detail: fault });
    return accepted({ format, preimage: textPreimage(message) });
  }
  const read = readMessage(chain, message);
  if (!read.ok) return refused({ field: 'message', detail: read.refusal });
  if (format === 'eip712' && read.value.format !== format) {
    return refused({ field: 'message', detail: 'Must be JSON with types, primaryType, domain and message (EIP-712).' });
  }
  const preimage = messagePreimage({ chain, ...read.value });
  if (preimage === null) throw new Error('a message that was read is in canonical form');
  return accepted({ format: read.value.format, preimage });
}

function verdictOn(digest: Uint8Array, { address, signature }: MessageClaim): Result<Verdict, ClaimFault> {
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(signature)) return malformed('Must be hex with the prefix 0x.');
  const bytes = hexToBytes(`0x${signature.slice(2)}`);
  if (bytes.length > SIGNATURE_BYTES) return accepted(CONTRACT_WALLET);
  if (bytes.length < SIGNATURE_BYTES) return malformed('Must have 65 bytes: r, s and v.');
  const parity = (bytes[64] ?? 0) - V_OFFSET;
  if (parity !== 0 && parity !== 1) return malformed('Must end with v, which is 27 or 28.');
  try {
    const parsed = secp256k1.Signature.fromBytes(bytes.subarray(0, 64)).addRecoveryBit(parity);
    if (parsed.hasHighS()) return accepted(notCanonical('s is in the upper half (EIP-2): the signature is malleable.'));
    const signer = addressOfPublicKey(parsed.recoverPublicKey(digest).toBytes(false));
    return accepted(signer === address ? VALID : OTHER_SIGNER);
  } catch {
    // noble throws for scalars out of range, and where there is no such point: no key has signed this.
    return accepted(OTHER_SIGNER);
  }
}

function malformed(detail: string): Result<never, ClaimFault> {
  return refused({ field: 'signature', detail });
}
