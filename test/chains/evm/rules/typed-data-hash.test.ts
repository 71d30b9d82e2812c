import type { MessageTypes } from '@metamask/eth-sig-util';
import { SignTypedDataVersion, TypedDataUtils } from '@metamask/eth-sig-util';
import { TypedDataEncoder } from 'ethers';
import fc from 'fast-check';
import { hashTypedData, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { readTypedData, typedDataText } from '#chains/evm/rules/typed-data.ts';
import type { TypedData } from '#chains/evm/rules/typed-data.ts';
import { typedDataPreimage } from '#chains/evm/rules/typed-data-hash.ts';
import cases from './message-cases.json' with { type: 'json' };

/** Covers the hashes of typed data, which equal those of viem, ethers and eth-sig-util. */

type Given = Omit<TypedData, 'types'> & { readonly types: Readonly<Record<string, { name: string; type: string }[]>> };

function read(value: unknown) {
  const typed = readTypedData(value);
  if (!typed.ok) throw new Error(typed.refusal);
  return typed.value;
}

const ours = (value: unknown) => keccak256(typedDataPreimage(read(value)));
const byViem = (value: Given) => hashTypedData(value as unknown as Parameters<typeof hashTypedData>[0]);

/** eth-sig-util takes a domain without a type for an empty one. */
function bySigUtil(value: Given, types: TypedData['types']): string {
  const withDomain = { ...value, types: { ...value.types, EIP712Domain: [...(types['EIP712Domain'] ?? [])] } };
  const hash = TypedDataUtils.eip712Hash<MessageTypes>(withDomain, SignTypedDataVersion.V4);
  return `0x${Buffer.from(hash).toString('hex')}`;
}

/** ethers refuses types that the primary type does not refer to. */
function byEthers({ types, primaryType, domain, message }: Given): string {
  const used = new Set([primaryType]);
  for (const name of used) {
    for (const { type } of types[name] ?? []) {
      const element = type.replace(/\[.*/, '');
      if (element in types) used.add(element);
    }
  }
  const kept = Object.fromEntries([...used].map((name) => [name, types[name] ?? []]));
  return TypedDataEncoder.hash(domain, kept, message);
}

const LIBRARIES: Readonly<Record<string, (value: Given) => string>> = {
  viem: byViem,
  ethers: byEthers,
  'eth-sig-util': (value) => bySigUtil(value, read(value).types),
};

for (const { name, digest, digestOf, typedData } of cases.typedData) {
  test(`the case ${name} has the digest of the libraries`, () => {
    const given = typedData as unknown as Given;
    expect(ours(given)).toBe(digest);
    for (const [library, hash] of Object.entries(LIBRARIES)) {
      if (digestOf.includes(library)) expect([library, hash(given)]).toEqual([library, digest]);
      else expect(() => hash(given), library).toThrow();
    }
  });
}

interface Scene {
  readonly given: Given;
  readonly undeclared: number;
  readonly isRecursive: boolean;
  readonly hasNull: boolean;
}

/** Returns whole numbers below a bound, drawn by a seed (mulberry32). */
function drawing(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

type Draw = (bound: number) => number;
const one = <T>(draw: Draw, ...items: readonly [T, ...T[]]): T => items[draw(items.length)] ?? items[0];
const hex = (draw: Draw, size: number) =>
  `0x${Buffer.from(Array.from({ length: size }, () => draw(256))).toString('hex')}`;
const text = (draw: Draw) =>
  Array.from({ length: draw(40) }, () => one(draw, 'a', 'é', '"', '\n', '字', '😀')).join('');

function integer(draw: Draw, type: string): string | number {
  const width = Number.parseInt(/\d+/.exec(type)?.[0] ?? '0', 10);
  const bits = BigInt(hex(draw, 32)) >> BigInt(256 - 1 - draw(width));
  const number = type.startsWith('u') ? bits : BigInt.asIntN(width, bits);
  const isSmall = BigInt.asIntN(53, number) === number;
  return isSmall && draw(2) === 0 ? Number.parseInt(String(number), 10) : String(number);
}

function atom(draw: Draw, type: string): unknown {
  if (type === 'bool') return draw(2) === 0;
  if (type === 'string') return text(draw);
  if (type === 'bytes') return hex(draw, draw(70));
  if (type === 'address') return hex(draw, 20);
  if (type.startsWith('bytes')) return hex(draw, Number.parseInt(type.slice('bytes'.length), 10));
  return integer(draw, type);
}

/**
 * Returns random typed data: up to three structs in a chain, any of which can also contain the
 * first one, so that it is recursive; lists; domains with any of the standard's fields; names with
 * a colon; nulls at the ends; and undeclared keys.
 */
function scene(seed: number): Scene {
  const draw = drawing(seed);
  const count = draw(4);
  const primaryType = count === 0 ? one(draw, 'Order', 'Market:Order', 'O$1') : 'S0';
  const names =
    count === 0 ? [primaryType] : ['S2', 'S0', 'S1'].filter((name) => Number.parseInt(name[1] ?? '', 10) < count);
  const types: Record<string, { name: string; type: string }[]> = {};
  let [undeclared, hasNull, isRecursive] = [0, false, false];
  for (const name of names) {
    const next = names.find((other) => other === `S${Number.parseInt(name[1] ?? '', 10) + 1}`);
    types[name] = Array.from({ length: draw(4) }, (_, i) => {
      const width = 8 * (1 + draw(32));
      const plain = one(draw, 'bool', 'string', 'bytes', 'address', `uint${width}`, `int${width}`, `bytes${width / 8}`);
      const base = next !== undefined && draw(2) === 0 ? next : plain;
      return { name: `m${i}`, type: base + one(draw, '', '', '[]', '[2]', '[2][]') };
    });
    if (next !== undefined) types[name].push({ name: 'next', type: next });
    if (count > 0 && draw(3) === 0) {
      types[name].push({ name: 'first', type: 'S0' });
      isRecursive = true;
    }
  }
  const struct = (name: string, depth: number): Record<string, unknown> => {
    const entries: [string, unknown][] = [];
    if (draw(10) === 0) {
      undeclared += 1;
      entries.push(['unknown', { m0: 1 }]);
    }
    for (const { name: key, type } of types[name] ?? []) {
      if (key !== 'first' || (depth < 4 && draw(3) === 0)) entries.push([key, value(type, depth + 1)]);
      else {
        hasNull = true;
        if (draw(2) === 0) entries.push([key, null]);
      }
    }
    return Object.fromEntries(entries);
  };
  const value = (type: string, depth: number): unknown => {
    const array = /^(.+)\[(2?)\]$/.exec(type);
    const inner = array?.[1];
    if (inner === undefined) return type in types ? struct(type, depth) : atom(draw, type);
    const length = array?.[2] === '2' ? 2 : depth > 4 ? 0 : draw(3);
    return Array.from({ length }, () => value(inner, depth + 1));
  };
  const message = struct(primaryType, 0);
  const fields = {
    name: text(draw),
    version: '1',
    chainId: one<number | string>(draw, 1, '1337', '0x2105'),
    verifyingContract: hex(draw, 20),
    salt: hex(draw, 32),
  };
  const domain = Object.fromEntries(Object.entries(fields).filter(() => draw(2) === 0));
  return { given: { types, primaryType, domain, message }, undeclared, hasNull, isRecursive };
}

test('every digest equals those of viem, ethers and eth-sig-util, where the library accepts the data', () => {
  const seen = { nulls: 0, undeclared: 0, recursive: 0, odd: 0 };
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const { given, undeclared, hasNull, isRecursive } = scene(seed);
      const typed = read(given);
      const digest = keccak256(typedDataPreimage(typed));
      expect(typed.droppedKeys).toBe(undeclared);
      expect(bySigUtil(given, typed.types)).toBe(digest);
      // viem leaves a chainId that is a text out of the domain type that it infers, so it gets the
      // canonical form, which declares it.
      const canonical = { ...typed, types: { ...typed.types } } as unknown as Given;
      if (!hasNull) expect(byViem(canonical)).toBe(digest);
      // ethers refuses every recursive type.
      if (!isRecursive) expect(byEthers(canonical)).toBe(digest);
      // What is stored, shown and signed is one text.
      const again = read(JSON.parse(typedDataText(typed)));
      expect([again.droppedKeys, typedDataText(again)]).toEqual([0, typedDataText(typed)]);
      expect(bySigUtil(again as unknown as Given, again.types)).toBe(digest);
      seen.nulls += hasNull ? 1 : 0;
      seen.undeclared += undeclared > 0 ? 1 : 0;
      seen.recursive += isRecursive ? 1 : 0;
      seen.odd += /^\w+$/.test(given.primaryType) ? 0 : 1;
    }),
    { numRuns: 400 },
  );
  for (const [kind, count] of Object.entries(seen)) expect(count, kind).toBeGreaterThan(10);
});

const a = { name: 'a', type: 'uint8' };

test.each<[string, TypedData['types'], string]>([
  ['refers to another type', { 'X:A': [{ name: 'b', type: 'B' }], B: [a] }, 'X:A'],
  ['begins with the name of another type', { 'B:A': [a], B: [a] }, 'B:A'],
  ['is part of another type', { A: [{ name: 'b', type: 'X:B[]' }], 'X:B': [a] }, 'A'],
  ['with a dollar sign is part of another type', { A: [{ name: 'b', type: 'B$1' }], B$1: [a] }, 'A'],
])('a name that libraries read in two ways is refused where it %s', (_name, types, primaryType) => {
  const message =
    primaryType === 'B:A' ? { a: 1 } : { b: primaryType === 'A' && 'X:B' in types ? [{ a: 1 }] : { a: 1 } };
  const given = { types, primaryType, domain: { name: 'x' }, message };
  expect(byViem(given as unknown as Given)).not.toBe(byEthers(given as unknown as Given));
  expect(readTypedData(given)).toEqual({ ok: false, refusal: expect.stringContaining('in different ways') });
});

test('a list of many structs is hashed without hashing their type again and again', () => {
  const members = Array.from({ length: 60 }, (_, i) => ({ name: `m${i}`, type: 'Node[]' }));
  const empty = Object.fromEntries(members.map(({ name }) => [name, []]));
  const given = {
    types: { Node: members },
    primaryType: 'Node',
    domain: {},
    message: { ...empty, m0: [empty, empty] },
  };
  expect(ours(given)).toBe(byViem(given));
});
