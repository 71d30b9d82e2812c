import type { Hex } from 'viem';
import { bytesToHex, concatHex, hexToBytes, keccak256, stringToHex } from 'viem/utils';
import { signerOf } from '#curve/signatures.ts';
import type { ChainFault, ChainSignature, MessageText } from '#chains/chain-rules.ts';
import { plainTextFault } from '#chains/inspect/message-text.ts';
import { addressOfPoint } from '#chains/evm/rules/address.ts';
import { chainIdOf } from '#chains/evm/rules/chain-id.ts';
import { isTypedData, readTypedData, typedDataPreimage, typedDataText } from '#chains/evm/rules/typed-data.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Reads the text of a new message. JSON with the four parts of EIP-712 is typed data and must be
 * valid; any other text is signed by EIP-191. Returns the one spelling that is stored, shown and
 * signed. Refuses with a text for users.
 */
export function readMessage(caip2: string, text: string): Result<MessageText, string> {
  const fault = plainTextFault(text);
  if (fault !== null) return refused(fault);
  const json = parsedJson(text);
  if (!isTypedData(json)) return accepted({ format: 'eip191', message: text });
  const typed = readTypedData(json);
  if (!typed.ok) return typed;
  const chainId = typed.value.domain['chainId'];
  if (chainId !== undefined && BigInt(chainId as string | number) !== chainIdOf(caip2)) {
    return refused('domain.chainId must be the id of this chain.');
  }
  return accepted({ format: 'eip712', message: typedDataText(typed.value) });
}

/**
 * Reports whether the signature of a message names no chain, so that it is valid on every EVM
 * chain: a text (EIP-191), typed data without `domain.chainId`, and invalid typed data. Solana and
 * Bitcoin use one key for each network.
 */
export function isUnboundMessage({ format, message }: Pick<MessageIntent, 'format' | 'message'>): boolean {
  if (format === 'eip191') return true;
  if (format !== 'eip712') return false;
  const typed = readTypedData(parsedJson(message));
  // Every field of the domain is hashed: `readTypedData` refuses one that its type does not
  // declare.
  return !typed.ok || !Object.hasOwn(typed.value.domain, 'chainId');
}

/**
 * Returns the bytes whose keccak256 is signed for a message, or null for an intent that is not in
 * canonical form. Every co-signer computes them itself. They begin with 0x19, and a transaction
 * does not (EIP-191): no message is ever a payment.
 */
export function messagePreimage(intent: Pick<MessageIntent, 'chain' | 'format' | 'message'>): Hex | null {
  if (typeof intent.message !== 'string' || typeof intent.chain !== 'string') return null;
  const read = readMessage(intent.chain, intent.message);
  if (!read.ok || read.value.message !== intent.message || read.value.format !== intent.format) return null;
  if (intent.format === 'eip712') {
    const typed = readTypedData(parsedJson(intent.message));
    return typed.ok ? typedDataPreimage(typed.value) : null;
  }
  return textPreimage(intent.message);
}

/** Returns the bytes whose keccak256 is signed for a text (EIP-191, version 0x45). */
function textPreimage(text: string): Hex {
  const content = stringToHex(text);
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

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
