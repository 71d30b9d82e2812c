import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { combine, MODULUS_TAIL } from '#mpc/ecdsa/gf208.ts';

/** Polynomials over GF(2) as BigInt, with bit i for X^i, in a slow and obvious implementation. */
const MODULUS = MODULUS_TAIL.reduce((sum, degree) => sum | (1n << BigInt(degree)), 1n << 208n);

function degreeOf(polynomial: bigint): number {
  return polynomial.toString(2).length - 1;
}

function remainder(dividend: bigint, divisor: bigint): bigint {
  let rest = dividend;
  while (rest !== 0n && degreeOf(rest) >= degreeOf(divisor))
    rest ^= divisor << BigInt(degreeOf(rest) - degreeOf(divisor));
  return rest;
}

function multiply(left: bigint, right: bigint): bigint {
  let product = 0n;
  for (let i = 0n; right >> i !== 0n; i++) if ((right >> i) & 1n) product ^= left << i;
  return remainder(product, MODULUS);
}

function gcd(left: bigint, right: bigint): bigint {
  return right === 0n ? left : gcd(right, remainder(left, right));
}

function powerOfTwoPower(times: number): bigint {
  let value = 2n;
  for (let i = 0; i < times; i++) value = multiply(value, value);
  return value;
}

test('the modulus X^208 + X^9 + X^3 + X + 1 is irreducible (Rabin: 208 = 2^4 * 13)', () => {
  expect(MODULUS).toBe((1n << 208n) | (1n << 9n) | (1n << 3n) | 2n | 1n);
  expect(powerOfTwoPower(208)).toBe(2n);
  for (const prime of [2, 13]) expect(gcd(MODULUS, powerOfTwoPower(208 / prime) ^ 2n)).toBe(1n);
});

test('the Rabin test of the previous test detects a reducible polynomial', () => {
  const reducible = (1n << 208n) | (1n << 9n) | (1n << 3n) | 1n;
  expect(remainder(reducible, 3n)).toBe(0n);
  expect(gcd(reducible, 3n)).toBe(3n);
});

/** Returns the column `lane bit` of a matrix of 624 vectors, as three field elements. */
function elementsOf(matrix: Int32Array, lanes: number, column: number): readonly [bigint, bigint, bigint] {
  const blocks = [0n, 0n, 0n] as [bigint, bigint, bigint];
  for (let j = 0; j < 624; j++) {
    const bit = (matrix[j * lanes + (column >> 5)]! >>> (column & 31)) & 1;
    blocks[Math.floor(j / 208)]! |= BigInt(bit) << BigInt(j % 208);
  }
  return blocks;
}

function elementOf(bytes: Uint8Array): bigint {
  return bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}

test.each([1, 4])('every column of a matrix with %i lanes combines to chi_1 a + chi_2 b + c in the field', (lanes) => {
  for (let round = 0; round < 4; round++) {
    const matrix = new Int32Array(randomBytes(624 * lanes * 4).buffer);
    const [first, second] = [randomBytes(26), randomBytes(26)];
    const sum = combine(matrix, lanes, { first, second });
    expect(sum.length).toBe(208 * lanes);
    for (let column = 0; column < 32 * lanes; column += 5) {
      const [a, b, c] = elementsOf(matrix, lanes, column);
      let got = 0n;
      for (let bit = 0; bit < 208; bit++) {
        got |= BigInt((sum[bit * lanes + (column >> 5)]! >>> (column & 31)) & 1) << BigInt(bit);
      }
      expect(got).toBe(multiply(a, elementOf(first)) ^ multiply(b, elementOf(second)) ^ c);
    }
  }
});

test('challenges of zero and of all ones need no special case', () => {
  const matrix = new Int32Array(randomBytes(624 * 4).buffer);
  const [a, b, c] = elementsOf(matrix, 1, 3);
  for (const fill of [0x00, 0xff]) {
    const chi = new Uint8Array(26).fill(fill);
    const sum = combine(matrix, 1, { first: chi, second: chi });
    let got = 0n;
    for (let bit = 0; bit < 208; bit++) got |= BigInt((sum[bit]! >>> 3) & 1) << BigInt(bit);
    expect(got).toBe(multiply(a ^ b, elementOf(chi)) ^ c);
  }
});

test('a matrix of another size is refused', () => {
  const challenges = { first: new Uint8Array(26), second: new Uint8Array(26) };
  for (const [rows, lanes] of [
    [623, 4],
    [625, 4],
    [624, 5],
    [0, 1],
  ] as const) {
    expect(() => combine(new Int32Array(rows * lanes), lanes, challenges)).toThrow('another size');
  }
});
