import type { Hex } from 'viem';
import { bytesToHex, concatHex, hexToBytes, keccak256, stringToHex } from 'viem/utils';
import { signerOf } from '#curve/signatures.ts';
import type { ChainFault, ChainSignature, MessageOptions, MessageText } from '#chains/chain-rules.ts';
import { plainTextFault } from '#chains/message-text.ts';
import { addressOfPoint } from '#chains/evm/rules/address.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { isHexBytes } from '#chains/evm/rules/hex.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import {
  integerOf,
  isTypedData,
  readTypedData,
  readTypedDataText,
  typedDataText,
} from '#chains/evm/rules/typed-data.ts';
import { typedDataPreimage } from '#chains/evm/rules/typed-data-hash.ts';
import type { MessageExtras, MessageIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';

/**
 * Reads the text of a new message. JSON with the four parts of EIP-712 is typed data and must be
 * valid; any other text is signed by EIP-191. Returns the one spelling that is stored, shown and
 * signed. Refuses with a text for users.
 *
 * Typed data for another chain id needs an acknowledgement that names this id: one that only said
 * yes would also accept the next id, of a chain where the same key holds money.
 */
export function readMessage(
  caip2: string,
  text: string,
  { acceptForeignChainId }: MessageOptions = {},
): Result<MessageText, string> {
  const fault = plainTextFault(text);
  if (fault !== null) return refused(fault);
  const json = jsonIn(text);
  if (!isTypedData(json)) return accepted({ format: 'eip191', message: text });
  const typed = readTypedData(json);
  if (!typed.ok) return typed;
  const chainId = signedChainId(typed.value);
  const foreign = chainId === null || chainId === chainIdOf(caip2) ? null : chainId.toString();
  if (foreign !== null && foreign !== acceptForeignChainId) return refused(foreignFault(caip2, foreign));
  const message = typedDataText(typed.value);
  // The canonical text can be longer than the given one, because it has `EIP712Domain`.
  const canonicalFault = plainTextFault(message);
  if (canonicalFault !== null) return refused(canonicalFault);
  const { droppedKeys } = typed.value;
  return accepted({
    format: 'eip712',
    message,
    ...(foreign === null ? {} : { foreignChainId: foreign }),
    ...(droppedKeys === 0 ? {} : { droppedKeys }),
  });
}

function foreignFault(caip2: string, foreign: string): string {
  const own = String(chainIdOf(caip2));
  return (
    `domain.chainId is ${foreign} and not the id of this chain, ${own}. The signature is valid on the chain with ` +
    `this id. If that is meant, set acceptForeignChainId to "${foreign}".`
  );
}

/**
 * Reads the bytes of a new message, in hex with 0x. They are signed by EIP-191, as
 * `message: { raw }` of viem. Returns lower-case hex. Refuses with a text for users.
 */
export function readRawMessage(text: string): Result<MessageText, string> {
  const fault = plainTextFault(text);
  if (fault !== null) return refused(fault);
  const message = text.startsWith('0x') ? text.toLowerCase() : text;
  if (!isHexBytes(message) || message === '0x') {
    return refused('With the encoding hex, must be whole bytes in hex with 0x, at least one.');
  }
  return accepted({ format: 'eip191-hex', message });
}

/** Returns the chain id in the domain of typed data, or null when its domain has none. */
export function signedChainId({ domain }: Pick<TypedData, 'domain'>): bigint | null {
  // Every field of the domain is hashed: `readTypedData` refuses one that its type does not
  // declare.
  return Object.hasOwn(domain, 'chainId') ? integerOf('uint256', domain['chainId']) : null;
}

/**
 * Reports whether the signature of a message names no chain, so that it is valid on every EVM
 * chain: a text or bytes (EIP-191), typed data without `domain.chainId`, and invalid typed data.
 * Solana and Bitcoin use one key for each network.
 */
export function isUnboundMessage({ format, message }: Pick<MessageIntent, 'format' | 'message'>): boolean {
  if (format === 'eip191' || format === 'eip191-hex') return true;
  if (format !== 'eip712') return false;
  const typed = readTypedDataText(message);
  return !typed.ok || signedChainId(typed.value) === null;
}

/**
 * Returns the bytes whose keccak256 is signed for a message, or null for an intent that is not in
 * canonical form. Every co-signer computes them itself. They begin with 0x19, and a transaction
 * does not (EIP-191): no message is ever a payment.
 */
export function messagePreimage(
  intent: Pick<MessageIntent, 'chain' | 'format' | 'message' | keyof MessageExtras>,
): Hex | null {
  const { chain, format, message, foreignChainId, droppedKeys } = intent;
  if (typeof message !== 'string' || typeof chain !== 'string') return null;
  const read =
    format === 'eip191-hex'
      ? readRawMessage(message)
      : readMessage(chain, message, { acceptForeignChainId: foreignChainId });
  if (!read.ok || read.value.message !== message || read.value.format !== format) return null;
  // A message that needs no acknowledgement has none, so that signers are not warned without cause.
  if (read.value.foreignChainId !== foreignChainId) return null;
  if (droppedKeys !== undefined && (format !== 'eip712' || !isCount(droppedKeys))) return null;
  if (format === 'eip712') {
    const typed = readTypedDataText(message);
    return typed.ok ? typedDataPreimage(typed.value) : null;
  }
  if (format !== 'eip191-hex') return bytesPreimage(stringToHex(message));
  return isHexBytes(message) ? bytesPreimage(message) : null;
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}

/** Returns the bytes whose keccak256 is signed for bytes (EIP-191, version 0x45). */
function bytesPreimage(content: Hex): Hex {
  const length = String(hexToBytes(content).length);
  return concatHex([stringToHex(`\u0019Ethereum Signed Message:\n${length}`), content]);
}

/**
 * Returns the signature of a message as wallets return it, r || s || v in hex. Refuses one that is
 * not by the intent's wallet.
 */
export function assembleMessage(intent: MessageIntent, signature: ChainSignature): Result<Hex, ChainFault> {
  if ('bytes' in signature) return refused({ detail: 'a signature of another scheme' });
  const { r, s, yParity } = signature;
  const preimage = messagePreimage(intent);
  if (preimage === null) return refused({ detail: 'the message is not in canonical form' });
  if (r.length !== 32 || s.length !== 32) return refused({ detail: 'a scalar has 32 bytes' });
  const signer = signerOf(hexToBytes(keccak256(preimage)), signature);
  if (signer === null || addressOfPoint(signer) !== intent.from) return refused({ detail: 'signed by another wallet' });
  return accepted(concatHex([bytesToHex(r), bytesToHex(s), yParity === 0 ? '0x1b' : '0x1c']));
}
