import type { Hex } from 'viem';
import { concatHex, keccak256, numberToHex, pad, stringToHex } from 'viem/utils';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { arrayOf, DOMAIN, integerOf } from '#chains/evm/rules/typed-data.ts';
import { parseHexBytes } from '#chains/evm/rules/hex.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** EIP-712 as eth-sig-util (V4) encodes it: the hash of a struct that is null. */
const NULL_STRUCT: Hex = `0x${'00'.repeat(32)}`;

/**
 * Returns the bytes of EIP-712: `0x19 0x01 || domainSeparator || hashStruct(message)`; their
 * keccak256 is signed. Data whose primary type is the domain ends after `domainSeparator`.
 *
 * Ours, although viem hashes typed data: viem refuses the null that ends recursive data.
 */
export function typedDataPreimage({ types, primaryType, domain, message }: TypedData): Hex {
  const hashing = { types, typeHashes: new Map<string, Hex>() };
  const separator = hashOfStruct(hashing, DOMAIN, domain);
  if (primaryType === DOMAIN) return concatHex(['0x1901', separator]);
  return concatHex(['0x1901', separator, hashOfStruct(hashing, primaryType, message)]);
}

interface Hashing {
  readonly types: TypedData['types'];
  /** A list of many structs would otherwise hash the same long text for each of them. */
  readonly typeHashes: Map<string, Hex>;
}

/** Returns `hashStruct` of a value that `readTypedData` has accepted. */
function hashOfStruct(hashing: Hashing, name: string, value: Readonly<Record<string, unknown>>): Hex {
  const { types, typeHashes } = hashing;
  const typeHash = typeHashes.get(name) ?? keccak256(stringToHex(encodedType(types, name)));
  typeHashes.set(name, typeHash);
  const words = (types[name] ?? []).map((member) => wordOf(hashing, member.type, value[member.name]));
  return keccak256(concatHex([typeHash, ...words]));
}

/** Returns `encodeType`: the type, then the types that it refers to, sorted by name. */
function encodedType(types: TypedData['types'], name: string): string {
  const found = new Set<string>([name]);
  for (const type of found) {
    for (const { type: inner } of types[type] ?? []) {
      const element = innermost(inner);
      if (element in types) found.add(element);
    }
  }
  found.delete(name);
  // The order of code units, as in every library.
  const names = [name, ...[...found].toSorted()];
  return names.map((type) => `${type}(${(types[type] ?? []).map((one) => `${one.type} ${one.name}`).join()})`).join('');
}

function innermost(type: string): string {
  const array = arrayOf(type);
  return array === null ? type : innermost(array.element);
}

/** Returns the 32 bytes of a value in `encodeData`. Throws for a value that was not accepted. */
function wordOf(hashing: Hashing, type: string, value: unknown): Hex {
  const array = arrayOf(type);
  if (array !== null && Array.isArray(value)) {
    return keccak256(concatHex(value.map((item: unknown) => wordOf(hashing, array.element, item))));
  }
  if (type in hashing.types) {
    if (value === null) return NULL_STRUCT;
    if (isJsonObject(value)) return hashOfStruct(hashing, type, value);
  }
  if (type === 'string' && typeof value === 'string') return keccak256(stringToHex(value));
  if (type === 'bool' && typeof value === 'boolean') return numberToHex(value ? 1n : 0n, { size: 32 });
  const number = type.includes('int') ? integerOf(type, value) : null;
  if (number !== null) return numberToHex(BigInt.asUintN(256, number), { size: 32 });
  const bytes = parseHexBytes(value);
  if (bytes === null) throw new Error(`The value of type ${type} was not checked.`);
  if (type === 'bytes') return keccak256(bytes);
  return pad(bytes, { dir: type === 'address' ? 'left' : 'right', size: 32 });
}
