import type { Hex } from 'viem';
import { concatHex, hashStruct, isAddress } from 'viem/utils';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * EIP-712 typed data, parsed strictly: what a signer reads is exactly what is signed. Libraries
 * accept a field that is declared and missing, or present and not declared, or a number that JSON
 * has rounded; here each of them is a fault.
 */
export interface TypedData {
  readonly types: Readonly<Record<string, readonly Member[]>>;
  readonly primaryType: string;
  readonly domain: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, unknown>>;
}

interface Member {
  readonly name: string;
  readonly type: string;
}

const PARTS = ['types', 'primaryType', 'domain', 'message'] as const;
const DOMAIN = 'EIP712Domain';

/** EIP-712, definition of domainSeparator: these fields, in this order, and no others. */
const DOMAIN_MEMBERS: readonly Member[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
];

const NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
const ATOMIC =
  /^(?:address|bool|string|bytes(?:[1-9]|[12][0-9]|3[0-2])?|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256))$/;
const ARRAY = /^(.+)\[([1-9][0-9]{0,3})?\]$/;

/** Deeper than any protocol nests, and within every stack's limit. */
const MAX_DEPTH = 16;
const MAX_TYPES = 64;
const MAX_MEMBERS = 64;

/** Reports whether a parsed JSON value has the parts of typed data. */
export function isTypedData(value: unknown): boolean {
  return isObject(value) && PARTS.every((part) => part in value);
}

/**
 * Reads typed data from a parsed JSON value. When its types have no `EIP712Domain`, it gets the one
 * that matches the fields of its domain, as wallets do. Refuses with the fault and its field path,
 * as a text for users.
 */
export function readTypedData(value: unknown): Result<TypedData, string> {
  if (!isObject(value) || Object.keys(value).length !== PARTS.length || !isTypedData(value)) {
    return refused('Typed data must have exactly types, primaryType, domain and message.');
  }
  const { primaryType, domain, message } = value;
  if (!isObject(domain) || !isObject(message)) return refused('domain and message must be objects.');
  const types = readTypes(value['types'], domain);
  if (!types.ok) return types;
  if (typeof primaryType !== 'string' || primaryType === DOMAIN || !(primaryType in types.value)) {
    return refused('primaryType must be one of the types.');
  }
  const data = { types: types.value, primaryType, domain, message };
  const fault =
    structFault(data.types, { type: DOMAIN, value: domain, path: 'domain', depth: 0 }) ??
    structFault(data.types, { type: primaryType, value: message, path: 'message', depth: 0 });
  return fault === null ? accepted(data) : refused(fault);
}

/** Returns the one spelling of typed data that is stored, shown, hashed and signed. */
export function typedDataText({ types, primaryType, domain, message }: TypedData): string {
  return JSON.stringify({ types, primaryType, domain, message });
}

/**
 * Returns the bytes of EIP-712: `0x19 0x01 || domainSeparator || hashStruct(message)`; their
 * keccak256 is signed.
 */
export function typedDataPreimage({ types, primaryType, domain, message }: TypedData): Hex {
  const members = Object.fromEntries(Object.entries(types).map(([name, list]) => [name, [...list]]));
  const hashOf = (type: string, value: unknown) =>
    hashStruct({ data: encodable(types, type, value) as Record<string, unknown>, primaryType: type, types: members });
  return concatHex(['0x1901', hashOf(DOMAIN, domain), hashOf(primaryType, message)]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readTypes(value: unknown, domain: Readonly<Record<string, unknown>>): Result<TypedData['types'], string> {
  if (!isObject(value) || Object.keys(value).length > MAX_TYPES)
    return refused('types must be an object of struct types.');
  const types: Record<string, readonly Member[]> = Object.create(null) as Record<string, readonly Member[]>;
  for (const [name, list] of Object.entries(value)) {
    const members = readMembers(list);
    if (!NAME.test(name) || ATOMIC.test(name) || members === null)
      return refused(`The type ${name} is not a struct type.`);
    types[name] = members;
  }
  const unknown = Object.values(types).flatMap((members) =>
    members.filter(({ type }) => !ATOMIC.test(elementOf(type)) && !(elementOf(type) in types)),
  );
  if (unknown[0] !== undefined) return refused(`The type ${unknown[0].type} is not known.`);
  const implied = DOMAIN_MEMBERS.filter(({ name }) => name in domain);
  types[DOMAIN] ??= implied;
  const given = types[DOMAIN] ?? [];
  const standard = DOMAIN_MEMBERS.filter(({ name }) => given.some((member) => member.name === name));
  const fits = JSON.stringify(given) === JSON.stringify(standard);
  return fits ? accepted(types) : refused('EIP712Domain must have the fields of the standard in its order.');
}

function readMembers(value: unknown): readonly Member[] | null {
  if (!Array.isArray(value) || value.length > MAX_MEMBERS) return null;
  const members: Member[] = [];
  for (const item of value as readonly unknown[]) {
    if (!isObject(item) || Object.keys(item).length !== 2) return null;
    const { name, type } = item;
    if (typeof name !== 'string' || typeof type !== 'string' || !NAME.test(name)) return null;
    if (members.some((member) => member.name === name)) return null;
    members.push({ name, type });
  }
  return members;
}

/** Returns the innermost type of an array type. */
function elementOf(type: string): string {
  const match = ARRAY.exec(type);
  return match?.[1] === undefined ? type : elementOf(match[1]);
}

interface Position {
  readonly type: string;
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

function structFault(types: TypedData['types'], { type, value, path, depth }: Position): string | null {
  const members = types[type] ?? [];
  if (!isObject(value)) return `${path} must be an object.`;
  if (depth > MAX_DEPTH) return `${path} is nested too deeply.`;
  const extra = Object.keys(value).find((key) => !members.some(({ name }) => name === key));
  if (extra !== undefined) return `${path}.${extra} is not declared, so it would not be signed.`;
  for (const { name, type: inner } of members) {
    if (!Object.hasOwn(value, name)) return `${path}.${name} is missing.`;
    const fault = valueFault(types, { type: inner, value: value[name], path: `${path}.${name}`, depth: depth + 1 });
    if (fault !== null) return fault;
  }
  return null;
}

function valueFault(types: TypedData['types'], position: Position): string | null {
  const { type, value, path, depth } = position;
  const array = ARRAY.exec(type);
  if (array?.[1] !== undefined) {
    if (!Array.isArray(value) || (array[2] !== undefined && value.length !== Number.parseInt(array[2], 10))) {
      return `${path} is not a valid ${type}.`;
    }
    if (depth > MAX_DEPTH) return `${path} is nested too deeply.`;
    const inner = array[1];
    for (const [i, item] of (value as readonly unknown[]).entries()) {
      const fault = valueFault(types, { type: inner, value: item, path: `${path}[${i}]`, depth: depth + 1 });
      if (fault !== null) return fault;
    }
    return null;
  }
  if (type in types) return structFault(types, position);
  return isAtom(type, value) ? null : `${path} is not a valid ${type}.`;
}

function isAtom(type: string, value: unknown): boolean {
  if (type === 'bool') return typeof value === 'boolean';
  if (type.includes('int')) return integerOf(type, value) !== null;
  if (typeof value !== 'string') return false;
  if (type === 'string') return value.isWellFormed();
  // This includes EIP-55 when the text has capital letters.
  if (type === 'address') return isAddress(value);
  if (!/^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return false;
  return type === 'bytes' || value.length === 2 + 2 * Number.parseInt(type.slice('bytes'.length), 10);
}

/**
 * Returns a JSON number that JSON has not rounded, or a text of digits or hex; null for any other
 * value, or one out of range.
 */
function integerOf(type: string, value: unknown): bigint | null {
  const isDigits = typeof value === 'string' && /^(?:-?(?:0|[1-9][0-9]{0,77})|0x[0-9a-fA-F]{1,64})$/.test(value);
  const isExact = typeof value === 'number' && Number.isSafeInteger(value);
  if (!isDigits && !isExact) return null;
  const number = BigInt(value);
  const bits = BigInt(Number.parseInt(type.slice(type.indexOf('int') + 3), 10));
  const [least, most] = type.startsWith('u') ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return number >= least && number <= most ? number : null;
}

/** Returns the value with integers as `bigint`, because the encoder must not round either. */
function encodable(types: TypedData['types'], type: string, value: unknown): unknown {
  const array = ARRAY.exec(type);
  if (array?.[1] !== undefined) {
    const inner = array[1];
    return (value as readonly unknown[]).map((item) => encodable(types, inner, item));
  }
  const members = types[type];
  if (members === undefined) return type.includes('int') ? integerOf(type, value) : value;
  const struct = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(members.map(({ name, type: inner }) => [name, encodable(types, inner, struct[name])]));
}
