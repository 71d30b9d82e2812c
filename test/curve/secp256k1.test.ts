import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { normalizeZ } from '@noble/curves/abstract/curve.js';
import { secp256k1, secp256k1_hasher } from '@noble/curves/secp256k1.js';
import { numberToBytesBE } from '@noble/curves/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import {
  addPoints,
  combinePublic,
  hashToCurve,
  multiplyGenerator,
  multiplyPoint,
  negatePoint,
  parseCompressed,
} from '#curve/secp256k1.ts';

/**
 * Compares each function with noble on random inputs, and on the edges. `CURVE_INPUTS` sets the
 * number of random inputs; `npm run proof` takes a million.
 */
const INPUTS = Number.parseInt(process.env['CURVE_INPUTS'] ?? '10000', 10);

const { Point } = secp256k1;
type NoblePoint = InstanceType<typeof Point>;
const ORDER = Point.Fn.ORDER;
const P = Point.Fp.ORDER;
const IDENTITY = new Uint8Array(64);

const scalarBytes = (value: bigint) => numberToBytesBE(value, 32);
const random = () => Point.Fn.fromBytes(secp256k1.utils.randomSecretKey());
const mod = (value: bigint) => ((value % ORDER) + ORDER) % ORDER;
/** Returns noble's points in the form of the module. */
const affine = (points: readonly NoblePoint[]) =>
  normalizeZ(Point, [...points]).map((point) => (point.is0() ? IDENTITY : point.toBytes(false).slice(1)));

/** A scalar, and its multiple of the generator by noble. */
interface Multiple {
  readonly scalar: bigint;
  readonly point: NoblePoint;
}

function multipleOf(scalar: bigint): Multiple {
  return { scalar, point: Point.BASE.multiplyUnsafe(scalar) };
}

/**
 * Compares all functions of points for a G, b G and the scalars s and b. The product s a G is
 * compared with a multiple of the generator, which noble computes faster.
 */
function expectSame(a: Multiple, b: Multiple, s: Multiple): void {
  const product = multipleOf(mod(a.scalar * s.scalar)).point;
  const sums = [product.add(b.point), a.point.add(b.point), a.point.negate()];
  const [A = IDENTITY, B = IDENTITY, ...expected] = affine([a.point, b.point, s.point, product, ...sums]);
  const [secret, other] = [scalarBytes(s.scalar), scalarBytes(b.scalar)];
  const computed = [
    multiplyGenerator(secret),
    multiplyPoint(A, secret),
    combinePublic(A, secret, other),
    addPoints(A, B),
    negatePoint(A),
  ];
  // One comparison of buffers takes a hundredth of the time that an assertion takes.
  if (Buffer.compare(concatBytes(...computed), concatBytes(...expected)) === 0) return;
  expect({ a, b, s, computed }).toEqual({ a, b, s, computed: expected });
}

test('the binary has the hash of its recipe', () => {
  const read = (name: string) => readFileSync(resolve(import.meta.dirname, '../../src/curve', name));
  const pinned = /^binary=([0-9a-f]{64})$/m.exec(read('secp256k1.sh').toString())?.[1];
  expect(bytesToHex(sha256(read('secp256k1.wasm')))).toBe(pinned);
});

test('products, sums and negatives of random points are those of noble', () => {
  let [a, b] = [multipleOf(random()), multipleOf(random())];
  for (let i = 0; i < INPUTS; i++) {
    const s = multipleOf(random());
    expectSame(a, b, s);
    [a, b] = [b, s];
  }
}, 7_200_000);

test('products, sums and negatives at the edges are those of noble', () => {
  /** A cube root of 1 (the endomorphism), and the scalars at which windows and limbs carry. */
  const lambda = 0x5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72n;
  const edges = [0n, 1n, 2n, 3n, ORDER - 1n, ORDER - 2n, (ORDER - 1n) / 2n, (ORDER + 1n) / 2n, lambda, ORDER - lambda];
  const powers = [31n, 32n, 63n, 64n, 127n, 128n, 129n, 191n, 192n, 255n].map((exponent) => 2n ** exponent);
  for (const s of [...edges, ...powers, ...powers.map((power) => power - 1n)].map(multipleOf)) {
    for (const a of [0n, 1n, ORDER - 1n, random()]) {
      // The sums of a point with itself, with its negative, with the identity, and with the
      // negative of the product.
      for (const b of [a, mod(-a), 0n, mod(-a * s.scalar)]) expectSame(multipleOf(a), multipleOf(b), s);
    }
  }
});

test('hashes of random messages to the curve are those of noble', () => {
  for (let i = 0; i < INPUTS; i++) {
    const [message, dst] = [randomBytes(i % 500), utf8ToBytes(`a DST of the tests ${'x'.repeat(i % 200)}`)];
    const [noble = IDENTITY] = affine([secp256k1_hasher.hashToCurve(message, { DST: dst })]);
    if (Buffer.compare(hashToCurve(message, dst), noble) !== 0) expect({ i, message }).toEqual({ i, noble });
  }
  expect(() => hashToCurve(new Uint8Array(760), new Uint8Array(9))).toThrow('too long');
}, 7_200_000);

function parsedByNoble(bytes: Uint8Array): Uint8Array | null {
  try {
    return affine([Point.fromBytes(bytes)])[0] ?? null;
  } catch {
    return null;
  }
}

test('a point has one encoding', () => {
  for (let i = 0; i < INPUTS / 10; i++) {
    const x = randomBytes(32);
    for (const sign of [2, 3]) {
      const bytes = concatBytes(Uint8Array.of(sign), x);
      expect(parseCompressed(bytes)).toEqual(parsedByNoble(bytes));
    }
  }
  const generator = Point.BASE.toBytes(true);
  const [{ x }] = [Point.BASE.toAffine()];
  const refused = [
    // Other first bytes: of the identity, of an uncompressed and of a hybrid encoding.
    ...[0, 1, 4, 5, 6, 7, 0x82, 0xff].map((sign) => concatBytes(Uint8Array.of(sign), generator.slice(1))),
    // An x that is not below p: p itself, and the largest number.
    concatBytes(Uint8Array.of(2), scalarBytes(P)),
    concatBytes(Uint8Array.of(2), scalarBytes(P + 1n)),
    concatBytes(Uint8Array.of(2), new Uint8Array(32).fill(255)),
    // 5 is no x of the curve, and 0 is none.
    concatBytes(Uint8Array.of(2), scalarBytes(5n)),
    concatBytes(Uint8Array.of(2), scalarBytes(0n)),
  ];
  for (const bytes of refused) expect([bytes[0], parseCompressed(bytes)]).toEqual([bytes[0], null]);
  expect(parseCompressed(generator)?.slice(0, 32)).toEqual(scalarBytes(x));
});
