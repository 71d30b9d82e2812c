import { createHash } from 'node:crypto';

/** The verification of BIP-340, written from its text with plain numbers and without noble. */

const P = 2n ** 256n - 2n ** 32n - 977n;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const G: Point = {
  x: 0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  y: 0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
};

type Point = { readonly x: bigint; readonly y: bigint } | null;

const mod = (value: bigint) => ((value % P) + P) % P;

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, mod(base)];
  for (let rest = exponent; rest > 0n; rest >>= 1n, square = mod(square * square)) {
    if (rest & 1n) result = mod(result * square);
  }
  return result;
}

/**
 * Returns the inverse of a value other than 0 by Euclid's extended algorithm. A power of P - 2
 * would take several times as long in each step of a product.
 */
function inverse(value: bigint): bigint {
  let [high, low, x, y] = [P, mod(value), 0n, 1n];
  while (low > 1n) {
    const quotient = high / low;
    [high, low] = [low, high - quotient * low];
    [x, y] = [y, x - quotient * y];
  }
  return mod(y);
}

function add(a: Point, b: Point): Point {
  if (a === null) return b;
  if (b === null) return a;
  if (a.x === b.x && mod(a.y + b.y) === 0n) return null;
  const slope = a.x === b.x ? mod(3n * a.x * a.x * inverse(2n * a.y)) : mod((b.y - a.y) * inverse(b.x - a.x));
  const x = mod(slope * slope - a.x - b.x);
  return { x, y: mod(slope * (a.x - x) - a.y) };
}

function multiply(point: Point, scalar: bigint): Point {
  let [sum, doubled]: [Point, Point] = [null, point];
  for (let rest = scalar; rest > 0n; rest >>= 1n, doubled = add(doubled, doubled))
    if (rest & 1n) sum = add(sum, doubled);
  return sum;
}

function number(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
}

/** Returns the point with this x and an even y (lift_x). */
function lift(x: bigint): Point {
  const y = power(x ** 3n + 7n, (P + 1n) / 4n);
  if (x >= P || mod(y * y) !== mod(x ** 3n + 7n)) return null;
  return { x, y: y % 2n === 0n ? y : P - y };
}

export function verifiesBip340(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const point = lift(number(publicKey));
  const [r, s] = [number(signature.subarray(0, 32)), number(signature.subarray(32))];
  if (point === null || signature.length !== 64 || r >= P || s >= N) return false;
  const tag = createHash('sha256').update('BIP0340/challenge').digest();
  const hash = createHash('sha256').update(tag).update(tag).update(signature.subarray(0, 32)).update(publicKey);
  const challenge = number(hash.update(message).digest()) % N;
  const R = add(multiply(G, s), multiply(point, N - challenge));
  return R !== null && R.y % 2n === 0n && R.x === r;
}
