import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { equalBytes } from '@noble/curves/utils.js';
import { SigHash } from '@scure/btc-signer';
import type { Transaction } from '@scure/btc-signer';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import type { ScriptType } from '#chains/bitcoin/rules/script-type.ts';
import { scriptTypeOf } from '#chains/bitcoin/rules/script-type.ts';
import { readMessage, SIMPLE_VARIANT, virtualTransaction } from '#chains/bitcoin/rules/message.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { scriptCodeOf } from '#chains/bitcoin/rules/transaction.ts';
import { keyHashOf } from '#chains/bitcoin/rules/witness.ts';
import type { MessageVerdict, ClaimFault, MessageClaim, Verdict } from '#chains/message-verdict.ts';
import { notCanonical, OTHER_SIGNER, VALID } from '#chains/message-verdict.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** `ful`, the whole of `to_sign`, and `pof`, a PSBT with coins that only a node knows. */
const OTHER_VARIANT: Verdict = {
  valid: null,
  reason: 'other-variant',
  detail: 'Only the simple variant of BIP-322 is supported.',
};

const OTHER_SCRIPT: Verdict = {
  valid: null,
  reason: 'other-script',
  detail: 'Only P2WPKH and key-path P2TR are supported. Other scripts require a script interpreter.',
};

/**
 * Verifies a simple signature of BIP-322. In the absence of a variant it is taken for a simple one,
 * as the BIP allows for signers from before its version 2: a witness stack never begins like one.
 */
export function verifyMessage(claim: MessageClaim): Result<MessageVerdict, ClaimFault> {
  const { message, signature } = claim;
  const format = 'bip322';
  if (claim.format !== null && claim.format !== format) {
    return refused({ field: 'format', detail: `The format is not supported on this chain. Use ${format}.` });
  }
  const read = readMessage(message);
  if (!read.ok) return refused({ field: 'message', detail: read.refusal });
  if (/^(?:ful|pof)/.test(signature)) return accepted({ format, verdict: OTHER_VARIANT });
  const stack = stackIn(signature.startsWith(SIMPLE_VARIANT) ? signature.slice(SIMPLE_VARIANT.length) : signature);
  if (stack === null)
    return refused({ field: 'signature', detail: 'Must be a witness stack in base64 with the prefix smp.' });
  return accepted({ format, verdict: verdictOn(claim, stack) });
}

function verdictOn({ chain, address, message }: MessageClaim, stack: readonly Uint8Array[]): Verdict {
  const network = networkOf(chain);
  const script = network === null ? null : scriptOf(network, address);
  if (script === null) throw new Error('an address that was read is of its network');
  const lock = scriptTypeOf(script);
  if (lock === null) return OTHER_SCRIPT;
  const toSign = virtualTransaction(script, message);
  return lock.type === 'p2tr' ? ofTaproot(toSign, { script, lock }, stack) : ofSegwit(toSign, lock, stack);
}

interface Taproot {
  readonly script: Uint8Array;
  readonly lock: Extract<ScriptType, { readonly type: 'p2tr' }>;
}

/** BIP-341: 64 bytes are of the default hash type, a 65th names another; of those BIP-322 knows ALL alone. */
function ofTaproot(toSign: Transaction, { script, lock }: Taproot, stack: readonly Uint8Array[]): Verdict {
  const [signature] = stack;
  if (signature === undefined) return OTHER_SIGNER;
  // An annex, or a script and what it takes.
  if (stack.length > 1) return OTHER_SCRIPT;
  const isDefault = signature.length === 64;
  if (!isDefault && signature.length !== 65) return OTHER_SIGNER;
  if (!isDefault && signature[64] !== SigHash.ALL) return notCanonical('The hash type is neither DEFAULT nor ALL.');
  const type = isDefault ? SigHash.DEFAULT : SigHash.ALL;
  const hash = toSign.preimageWitnessV1(0, [script], type, [0n]);
  return schnorr.verify(signature.subarray(0, 64), hash, lock.outputKey) ? VALID : OTHER_SIGNER;
}

/** BIP-141: the signature with its hash type, and the key. BIP-322 wants ALL, strict DER and a low s. */
function ofSegwit(
  toSign: Transaction,
  { keyHash }: Extract<ScriptType, { readonly type: 'p2wpkh' }>,
  stack: readonly Uint8Array[],
): Verdict {
  const [typed, publicKey] = stack;
  if (typed === undefined || publicKey === undefined || stack.length !== 2) return OTHER_SIGNER;
  if (publicKey.length !== 33 || !equalBytes(keyHashOf(publicKey), keyHash)) return OTHER_SIGNER;
  if (typed.at(-1) !== SigHash.ALL) return notCanonical('The hash type is not ALL.');
  const signature = signatureIn(typed.subarray(0, -1));
  if (signature === null) return notCanonical('The signature is not strict DER.');
  if (signature.hasHighS()) return notCanonical('s is in the upper half (BIP-146), so the signature is malleable.');
  const hash = toSign.preimageWitnessV0(0, scriptCodeOf(keyHash), SigHash.ALL, 0n);
  const isRight = isPoint(publicKey) && secp256k1.verify(signature.toBytes(), hash, publicKey, { prehash: false });
  return isRight ? VALID : OTHER_SIGNER;
}

/** Null for what is not strict DER (BIP-66), which noble throws for, or would be spelled otherwise. */
function signatureIn(der: Uint8Array) {
  try {
    const signature = secp256k1.Signature.fromBytes(der, 'der');
    return equalBytes(signature.toBytes('der'), der) ? signature : null;
  } catch {
    return null;
  }
}

function isPoint(publicKey: Uint8Array): boolean {
  return secp256k1.utils.isValidPublicKey(publicKey, true);
}

/** Reads a witness stack (BIP-144) out of its one spelling in base64; null for anything else. */
function stackIn(base64: string): readonly Uint8Array[] | null {
  const bytes = new Uint8Array(Buffer.from(base64, 'base64'));
  if (bytes.length === 0 || Buffer.from(bytes).toString('base64') !== base64) return null;
  const reader = { bytes, offset: 0 };
  const count = lengthAt(reader);
  if (count === null) return null;
  const stack: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const length = lengthAt(reader);
    if (length === null || reader.offset + length > bytes.length) return null;
    stack.push(bytes.slice(reader.offset, reader.offset + length));
    reader.offset += length;
  }
  return reader.offset === bytes.length ? stack : null;
}

const TWO_BYTE_LENGTH = 0xfd;

/** CompactSize, up to its form of three bytes: a body of 64 kB holds nothing longer. Null for another spelling. */
function lengthAt(reader: { readonly bytes: Uint8Array; offset: number }): number | null {
  const [first, low, high] = reader.bytes.subarray(reader.offset, reader.offset + 3);
  if (first === undefined || first > TWO_BYTE_LENGTH) return null;
  if (first < TWO_BYTE_LENGTH) {
    reader.offset += 1;
    return first;
  }
  const length = (low ?? 0) + (high ?? 0) * 256;
  reader.offset += 3;
  return high === undefined || length < TWO_BYTE_LENGTH ? null : length;
}
