import type { Hex } from 'viem';
import { concatHex, fromRlp, numberToHex, toRlp } from 'viem/utils';
import { MAX_CALLDATA_BYTES } from '#chains/evm/rules/call.ts';
import { isHexBytes } from '#chains/evm/rules/hex.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * The fields of an EIP-1559 transaction that Conclave uses. An access list is not supported: it
 * only saves gas, and signers would not read it.
 */
export interface UnsignedTransaction {
  readonly chainId: bigint;
  readonly nonce: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly maxFeePerGas: bigint;
  readonly gasLimit: bigint;
  /** Lower case. Never absent: without it the transaction would create a contract. */
  readonly to: Hex;
  readonly value: bigint;
  readonly data: Hex;
}

export interface SignedTransaction extends UnsignedTransaction {
  readonly yParity: bigint;
  readonly r: bigint;
  readonly s: bigint;
}

export type EncodingFault = 'malformed' | 'unsupported-type' | 'access-list' | 'not-canonical';

const TYPE = '0x02';

/**
 * All fields but the calldata have at most 300 bytes; a much longer text is refused before it is
 * decoded.
 */
const MAX_HEX_LENGTH = 2 + 2 * (MAX_CALLDATA_BYTES + 512);

/**
 * Returns the bytes of EIP-1559: `0x02 || rlp([chainId, nonce, tip, maxFee, gasLimit, to, value,
 * data, accessList])`; their keccak256 is signed.
 */
export function serialiseUnsigned(transaction: UnsignedTransaction): Hex {
  return concatHex([TYPE, toRlp(fieldsOf(transaction))]);
}

/** Returns the same list with `yParity, r, s` appended; its keccak256 is the transaction's hash. */
export function serialiseSigned(transaction: SignedTransaction): Hex {
  const { yParity, r, s } = transaction;
  return concatHex([TYPE, toRlp([...fieldsOf(transaction), integer(yParity), integer(r), integer(s)])]);
}

/**
 * Returns the decoded fields. Refuses, in order: `malformed` (not lower-case hex, too long, not
 * RLP, wrong number or shape of fields), `unsupported-type`, `access-list`, `not-canonical` (a
 * second spelling of the same fields: padded integers, long lengths).
 */
export function parseUnsigned(text: string): Result<UnsignedTransaction, EncodingFault> {
  const parsed = parseFields(text, 9);
  if (!parsed.ok) return parsed;
  const { transaction } = parsed.value;
  return serialiseUnsigned(transaction) === text ? accepted(transaction) : refused('not-canonical');
}

/** Returns the decoded fields. Refuses as `parseUnsigned` does. Does not verify the signature. */
export function parseSigned(text: string): Result<SignedTransaction, EncodingFault> {
  const parsed = parseFields(text, 12);
  if (!parsed.ok) return parsed;
  const [yParity, r, s] = parsed.value.rest.map(parseInteger);
  if (yParity === undefined || r === undefined || s === undefined) return refused('malformed');
  if (yParity === null || r === null || s === null) return refused('malformed');
  const transaction = { ...parsed.value.transaction, yParity, r, s };
  return serialiseSigned(transaction) === text ? accepted(transaction) : refused('not-canonical');
}

type Rlp = Hex | readonly Rlp[];

function fieldsOf(transaction: UnsignedTransaction) {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data } = transaction;
  const numbers = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit].map(integer);
  return [...numbers, to, integer(value), data, []];
}

function parseFields(
  text: string,
  length: number,
): Result<{ readonly transaction: UnsignedTransaction; readonly rest: readonly Rlp[] }, EncodingFault> {
  if (text.length > MAX_HEX_LENGTH || !isHexBytes(text)) return refused('malformed');
  if (!text.startsWith(TYPE)) return refused('unsupported-type');
  const items = decode(text);
  if (items === null || items.length !== length) return refused('malformed');
  const [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit] = items.slice(0, 5).map(parseInteger);
  const [to, value, data] = [items[5], parseInteger(items[6]), items[7]];
  if (typeof to !== 'string' || to.length !== 42 || typeof data !== 'string') return refused('malformed');
  if (!isPresent(chainId) || !isPresent(nonce) || !isPresent(maxPriorityFeePerGas)) return refused('malformed');
  if (!isPresent(maxFeePerGas) || !isPresent(gasLimit) || !isPresent(value)) return refused('malformed');
  if (!Array.isArray(items[8]) || items[8].length > 0) return refused('access-list');
  const transaction = { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data };
  return accepted({ transaction, rest: items.slice(9) });
}

/**
 * RLP needs no own depth limit, because the length is limited before. viem throws for bytes that
 * are not RLP.
 */
function decode(text: Hex): readonly Rlp[] | null {
  try {
    const decoded: Rlp = fromRlp(`0x${text.slice(TYPE.length)}`, 'hex');
    return typeof decoded === 'string' ? null : decoded;
  } catch {
    return null;
  }
}

/** RLP integers have no leading zeros, so zero is the empty text. */
function integer(value: bigint): Hex {
  return value === 0n ? '0x' : numberToHex(value);
}

function parseInteger(item: Rlp | undefined): bigint | null {
  if (typeof item !== 'string' || item.length > 66) return null;
  return item === '0x' ? 0n : BigInt(item);
}

function isPresent(value: bigint | null | undefined): value is bigint {
  return value !== null && value !== undefined;
}
