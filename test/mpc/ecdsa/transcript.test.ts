import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { expect, test } from 'vitest';
import { gadget } from '#mpc/ecdsa/gadget.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { modOrder, ORDER, parseScalar } from '#curve/scalar.ts';
import { encodePoint, GENERATOR, parsePoint, scalarFromDigest } from '#mpc/secp256k1.ts';
import { equalBytes, oraclePrefix, taggedHash } from '#mpc/transcript.ts';

const bytes = (...values: readonly number[]): Uint8Array => Uint8Array.from(values);

test('a tagged hash is SHA-256(T || T || length, part, ...), so no two lists of parts collide', () => {
  const tag = sha256(utf8ToBytes('conclave/mpc/v1/tag'));
  const expected = sha256(concatBytes(tag, tag, bytes(0, 0, 0, 2, 1, 2), bytes(0, 0, 0, 0), bytes(0, 0, 0, 1, 3)));
  expect(taggedHash('tag', bytes(1, 2), bytes(), bytes(3))).toEqual(expected);
  const ambiguous = [
    taggedHash('tag', bytes(1, 2), bytes(3)),
    taggedHash('tag', bytes(1), bytes(2, 3)),
    taggedHash('tag', bytes(1, 2, 3)),
    taggedHash('tag', bytes(1, 2, 3), bytes()),
    taggedHash('tag', bytes(), bytes(1, 2, 3)),
    taggedHash('tag/', bytes(1, 2, 3)),
  ];
  expect(new Set(ambiguous.map((digest) => Buffer.from(digest).toString('hex'))).size).toBe(ambiguous.length);
});

test('long parts, which the runtime hashes itself, give the same digest as noble', () => {
  const tag = sha256(utf8ToBytes('conclave/mpc/v1/tag'));
  for (const length of [0, 1, 55, 64, 1022, 1023, 1024, 1025, 4096, 53_248, 100_000]) {
    const part = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 0xff);
    const size = bytes(length >>> 24, length >>> 16, length >>> 8, length);
    const expected = sha256(concatBytes(tag, tag, size, part, bytes(0, 0, 0, 1, 9), size, part));
    expect(taggedHash('tag', part, bytes(9), part)).toEqual(expected);
    // A part is often a subarray of a longer buffer.
    const piece = concatBytes(bytes(1, 2, 3), part, bytes(4)).subarray(3, 3 + length);
    expect(taggedHash('tag', piece, bytes(9), piece)).toEqual(expected);
  }
});

test('the first block of an indexed oracle is bound to its tag and sid', () => {
  const prefix = oraclePrefix('tag', bytes(7));
  expect(prefix).toEqual(concatBytes(taggedHash('tag', bytes(7)), taggedHash('tag', bytes(7))));
  expect(oraclePrefix('tag', bytes(8))).not.toEqual(prefix);
  expect(oraclePrefix('other', bytes(7))).not.toEqual(prefix);
});

test('the gadget has a pinned value, because co-signers of two versions must agree on it', () => {
  const [first, last] = [gadget()[0]!, gadget()[415]!];
  expect(first).toBe(scalarFromDigest(taggedHash('ecdsa/vole/gadget', bytes(0, 0, 0, 0))));
  expect(last).toBe(scalarFromDigest(taggedHash('ecdsa/vole/gadget', bytes(0, 0, 1, 0x9f))));
  expect(modOrder(gadget().reduce((sum, scalar) => sum + scalar)).toString(16)).toMatchInlineSnapshot(
    `"3e16ec94ab8b370f1425b85cacebe6098fa81f16abda5d6d3525f83f36b3d1fb"`,
  );
});

test('bytes are equal when their length and every byte are equal', () => {
  expect(equalBytes(bytes(), bytes())).toBe(true);
  expect(equalBytes(bytes(1, 2, 3), bytes(1, 2, 3))).toBe(true);
  for (const other of [bytes(1, 2), bytes(1, 2, 3, 4), bytes(0, 2, 3), bytes(1, 2, 0x83)])
    expect(equalBytes(bytes(1, 2, 3), other)).toBe(false);
});

test('a party is an integer from 1 to 5', () => {
  expect([1, 2, 3, 4, 5].map(parsePartyIndex)).toEqual([1, 2, 3, 4, 5]);
  for (const other of [0, 6, -1, 1.5, Number.NaN, Infinity, 256]) expect(parsePartyIndex(other)).toBeNull();
});

test('a point and a scalar have one encoding each', () => {
  const generator = encodePoint(GENERATOR);
  expect(parsePoint(generator)?.equals(GENERATOR)).toBe(true);
  const uncompressed = secp256k1.Point.BASE.toBytes(false);
  for (const other of [
    uncompressed,
    generator.slice(1),
    concatBytes(generator, bytes(0)),
    new Uint8Array(33),
    bytes(0),
  ]) {
    expect(parsePoint(other)).toBeNull();
  }
  const below = new Uint8Array(Buffer.from((ORDER - 1n).toString(16), 'hex'));
  const order = new Uint8Array(Buffer.from(ORDER.toString(16), 'hex'));
  expect(parseScalar(below)).toBe(ORDER - 1n);
  expect(parseScalar(new Uint8Array(32))).toBe(0n);
  for (const other of [order, new Uint8Array(32).fill(0xff), below.slice(1), concatBytes(bytes(0), below)]) {
    expect(parseScalar(other)).toBeNull();
  }
  expect(scalarFromDigest(order)).toBe(0n);
});
