import { isAddress } from 'viem/utils';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';

/**
 * EIP-712 typed data, parsed strictly: what a signer reads is exactly what is signed. Libraries
 * accept a field that is declared and missing, or a number that JSON has rounded; here each of them
 * is a fault. A key that no type declares is dropped, as libraries do, because applications send
 * such keys and no library signs them.
 */
export interface TypedData {
  readonly types: Readonly<Record<string, readonly Member[]>>;
  readonly primaryType: string;
  readonly domain: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, unknown>>;
}

/** Typed data without the keys that no type declares. */
export interface NormalisedTypedData extends TypedData {
  /** How many keys were dropped; 0 for data in canonical form. */
  readonly droppedKeys: number;
}

interface Member {
  readonly name: string;
  readonly type: string;
}

const PARTS = ['types', 'primaryType', 'domain', 'message'] as const;

/** The type of the domain. Data with this `primaryType` has only the domain. */
export const DOMAIN = 'EIP712Domain';

/** EIP-712, definition of domainSeparator: these fields, in this order, and no others. */
const DOMAIN_MEMBERS: readonly Member[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
  { name: 'salt', type: 'bytes32' },
];

const NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,63}$/;
/** Hyperliquid names its types with a colon: `HyperliquidTransaction:Withdraw`. */
const TYPE_NAME = /^[A-Za-z_$][A-Za-z0-9_$:]{0,63}$/;
/** The names that every library reads whole. */
const PLAIN_NAME = /^[A-Za-z0-9_]+$/;
const ATOMIC =
  /^(?:address|bool|string|bytes(?:[1-9]|[12][0-9]|3[0-2])?|u?int(?:8|16|24|32|40|48|56|64|72|80|88|96|104|112|120|128|136|144|152|160|168|176|184|192|200|208|216|224|232|240|248|256))$/;
const ARRAY = /^(.+)\[([1-9][0-9]{0,3})?\]$/;

/** Deeper than any protocol nests, and within every stack's limit. */
const MAX_DEPTH = 16;
const MAX_TYPES = 64;
const MAX_MEMBERS = 64;
/**
 * A name, and the brackets of as many dimensions as a value can have. Reading a type takes one call
 * for each dimension, and time that grows with the square of their number.
 */
const MAX_TYPE_LENGTH = 64 + MAX_DEPTH * '[9999]'.length;

/** Reports whether a parsed JSON value has the parts of typed data. */
export function isTypedData(value: unknown): boolean {
  return isJsonObject(value) && PARTS.every((part) => part in value);
}

/**
 * Reads typed data from a parsed JSON value. When its types have no `EIP712Domain`, it gets the one
 * that matches the fields of its domain, as wallets do. Refuses with the fault and its field path,
 * as a text for users.
 *
 * Keys that no type declares are dropped, except in the domain. Libraries disagree about those:
 * eth-sig-util drops them, ethers refuses them. A dropped `chainId` would make the signature valid
 * on every chain.
 */
export function readTypedData(value: unknown): Result<NormalisedTypedData, string> {
  if (!isJsonObject(value) || !isTypedData(value)) {
    return refused('Typed data must have types, primaryType, domain and message.');
  }
  const { primaryType, domain, message } = value;
  if (!isJsonObject(domain) || !isJsonObject(message)) return refused('domain and message must be objects.');
  const read = readTypes(value['types'], domain);
  if (!read.ok) return read;
  const types = read.value;
  if (typeof primaryType !== 'string' || !(primaryType in types)) {
    return refused('primaryType must be one of the types.');
  }
  const named = nameFault(types, primaryType);
  if (named !== null) return refused(named);
  const dropped: string[] = Object.keys(value).filter((key) => !PARTS.some((part) => part === key));
  // The standard signs nothing but the domain here, so no key of the message is declared.
  const isDomainAlone = primaryType === DOMAIN;
  const recursive = recursiveTypes(types);
  const content = normalised(
    { types: isDomainAlone ? { [DOMAIN]: [] } : types, recursive, dropped },
    { type: primaryType, value: message, depth: 0 },
  );
  const shape = { types, recursive };
  const fault =
    structFault(shape, { type: DOMAIN, value: domain, path: 'domain', depth: 0 }) ??
    (isDomainAlone ? null : structFault(shape, { type: primaryType, value: content, path: 'message', depth: 0 }));
  if (fault !== null) return refused(fault);
  const data = { types, primaryType, domain, message: isJsonObject(content) ? content : {} };
  return accepted({ ...data, droppedKeys: dropped.length });
}

/** Reads typed data from its JSON text. Refuses what `readTypedData` refuses, and other texts. */
export function readTypedDataText(text: string): Result<NormalisedTypedData, string> {
  return readTypedData(jsonIn(text));
}

/** Returns the one spelling of typed data that is stored, shown, hashed and signed. */
export function typedDataText({ types, primaryType, domain, message }: TypedData): string {
  return JSON.stringify({ types, primaryType, domain, message });
}

function readTypes(value: unknown, domain: Readonly<Record<string, unknown>>): Result<TypedData['types'], string> {
  if (!isJsonObject(value) || Object.keys(value).length > MAX_TYPES)
    return refused('types must be an object of struct types.');
  const types: Record<string, readonly Member[]> = Object.create(null) as Record<string, readonly Member[]>;
  for (const [name, list] of Object.entries(value)) {
    const members = readMembers(list);
    if (!TYPE_NAME.test(name) || ATOMIC.test(name) || members === null)
      return refused(`The type ${name} is not a struct type.`);
    types[name] = members;
  }
  const unknown = Object.values(types).flatMap((members) =>
    members.filter(({ type }) => !ATOMIC.test(elementOf(type)) && !(elementOf(type) in types)),
  );
  if (unknown[0] !== undefined) return refused(`The type ${unknown[0].type} is not known.`);
  const implied = DOMAIN_MEMBERS.filter(({ name }) => name in domain);
  types[DOMAIN] ??= implied;
  const declared = types[DOMAIN] ?? [];
  const standard = DOMAIN_MEMBERS.filter(({ name }) => declared.some((member) => member.name === name));
  const fits = JSON.stringify(declared) === JSON.stringify(standard);
  return fits ? accepted(types) : refused('EIP712Domain must have the fields of the standard in its order.');
}

function readMembers(value: unknown): readonly Member[] | null {
  if (!Array.isArray(value) || value.length > MAX_MEMBERS) return null;
  const members: Member[] = [];
  for (const item of value as readonly unknown[]) {
    if (!isJsonObject(item) || Object.keys(item).length !== 2) return null;
    const { name, type } = item;
    if (typeof name !== 'string' || typeof type !== 'string' || !NAME.test(name)) return null;
    if (type.length > MAX_TYPE_LENGTH) return null;
    if (members.some((member) => member.name === name)) return null;
    members.push({ name, type });
  }
  return members;
}

/**
 * Returns why libraries would hash the types differently, or null. viem and eth-sig-util read a
 * name up to its first `:` or `$` when they collect the types that a type refers to; ethers reads
 * it whole. They agree on such a name only for the primary type, when it refers to no other type
 * and no other type has the name that they read.
 */
function nameFault(types: TypedData['types'], primaryType: string): string | null {
  for (const [name, members] of Object.entries(types)) {
    const odd = members.map(({ type }) => elementOf(type)).find((type) => !PLAIN_NAME.test(type));
    if (odd !== undefined)
      return `Libraries hash the type ${odd} in different ways, because another type refers to it.`;
    if (PLAIN_NAME.test(name)) continue;
    const start = /^[A-Za-z0-9_]*/.exec(name)?.[0] ?? '';
    const isAlone = name === primaryType && members.every(({ type }) => ATOMIC.test(elementOf(type)));
    if (!isAlone || start in types) return `Libraries hash the type ${name} in different ways.`;
  }
  return null;
}

/** Returns the struct types whose values can contain values of the same type. */
function recursiveTypes(types: TypedData['types']): ReadonlySet<string> {
  return new Set(Object.keys(types).filter((name) => isRecursive(types, name)));
}

function isRecursive(types: TypedData['types'], name: string): boolean {
  const seen = new Set<string>();
  const open = [name];
  for (let type = open.pop(); type !== undefined; type = open.pop()) {
    for (const inner of (types[type] ?? []).map((member) => elementOf(member.type))) {
      if (inner === name) return true;
      if (seen.has(inner) || !(inner in types)) continue;
      seen.add(inner);
      open.push(inner);
    }
  }
  return false;
}

/**
 * Returns the array type's element type and its fixed length, null for a dynamic one; null for a
 * type that is no array.
 */
export function arrayOf(type: string): { readonly element: string; readonly length: number | null } | null {
  const match = ARRAY.exec(type);
  if (match?.[1] === undefined) return null;
  return { element: match[1], length: match[2] === undefined ? null : Number.parseInt(match[2], 10) };
}

/** Returns the innermost type of an array type. */
function elementOf(type: string): string {
  const array = arrayOf(type);
  return array === null ? type : elementOf(array.element);
}

interface Shape {
  readonly types: TypedData['types'];
  readonly recursive: ReadonlySet<string>;
}

interface Normalisation extends Shape {
  /** Receives the name of each key that is dropped. */
  readonly dropped: string[];
}

/**
 * Returns a value without the keys that its type does not declare, in the order in which it has the
 * others. A recursive member that is missing becomes null, which has the same hash in eth-sig-util,
 * so that signers see it. A value that does not fit its type stays: `structFault` refuses it.
 */
function normalised(context: Normalisation, { type, value, depth }: Omit<Position, 'path'>): unknown {
  const { types, recursive, dropped } = context;
  if (depth > MAX_DEPTH) return value;
  const array = arrayOf(type);
  if (array !== null) {
    if (!Array.isArray(value)) return value;
    return (value as readonly unknown[]).map((item) =>
      normalised(context, { type: array.element, value: item, depth: depth + 1 }),
    );
  }
  const members = types[type];
  if (members === undefined || !isJsonObject(value)) return value;
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    const member = members.find(({ name }) => name === key);
    if (member === undefined) dropped.push(key);
    else entries.push([key, normalised(context, { type: member.type, value: item, depth: depth + 1 })]);
  }
  for (const { name, type: inner } of members) {
    // eth-sig-util reads a name such as `constructor` from the prototype, and hashes what it finds.
    if (!(name in value) && recursive.has(inner)) entries.push([name, null]);
  }
  return Object.fromEntries(entries);
}

interface Position {
  readonly type: string;
  readonly value: unknown;
  readonly path: string;
  readonly depth: number;
}

function structFault(shape: Shape, { type, value, path, depth }: Position): string | null {
  const members = shape.types[type] ?? [];
  if (!isJsonObject(value)) return `${path} must be an object.`;
  if (depth > MAX_DEPTH) return `${path} is nested too deeply.`;
  const extra = Object.keys(value).find((key) => !members.some(({ name }) => name === key));
  if (extra !== undefined) return `${path}.${extra} is not declared, so it would not be signed.`;
  for (const { name, type: inner } of members) {
    if (!Object.hasOwn(value, name)) return `${path}.${name} is missing.`;
    // Recursive data ends somewhere: eth-sig-util signs null as 32 zero bytes, and viem and ethers
    // refuse it. Other structs are never null, because no contract computes such a hash.
    if (value[name] === null && shape.recursive.has(inner)) continue;
    const fault = valueFault(shape, { type: inner, value: value[name], path: `${path}.${name}`, depth: depth + 1 });
    if (fault !== null) return fault;
  }
  return null;
}

function valueFault(shape: Shape, position: Position): string | null {
  const { type, value, path, depth } = position;
  const array = arrayOf(type);
  if (array !== null) {
    if (!Array.isArray(value) || (array.length !== null && value.length !== array.length)) {
      return `${path} is not a valid ${type}.`;
    }
    if (depth > MAX_DEPTH) return `${path} is nested too deeply.`;
    const inner = array.element;
    for (const [i, item] of (value as readonly unknown[]).entries()) {
      const fault = valueFault(shape, { type: inner, value: item, path: `${path}[${i}]`, depth: depth + 1 });
      if (fault !== null) return fault;
    }
    return null;
  }
  if (type in shape.types) return structFault(shape, position);
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
export function integerOf(type: string, value: unknown): bigint | null {
  const isDigits = typeof value === 'string' && /^(?:-?(?:0|[1-9][0-9]{0,77})|0x[0-9a-fA-F]{1,64})$/.test(value);
  const isExact = typeof value === 'number' && Number.isSafeInteger(value);
  if (!isDigits && !isExact) return null;
  const number = BigInt(value);
  const bits = BigInt(Number.parseInt(type.slice(type.indexOf('int') + 3), 10));
  const [least, most] = type.startsWith('u') ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
  return number >= least && number <= most ? number : null;
}
