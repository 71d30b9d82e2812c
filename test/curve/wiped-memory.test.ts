import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import * as own from '#curve/secp256k1.ts';
import { areScalars, chosen, corrected, fold, offset, reduced, selected, transposed } from '#curve/vectors.ts';

/** Tests that the memory of the curve's code holds no secret after a call. */

const STACK_BYTES = 8_192;
const BUFFER_BYTES = 1_024;

const { functions, memory } = own.over({}, (code) => code);

/** A scalar below the order, none of whose bytes is zero. */
function secret(): Uint8Array {
  return Uint8Array.from(randomBytes(32), (byte, i) => (i === 0 ? 1 : byte || 1));
}

const point = own.multiplyGenerator(secret());
const scalar = secret();
const words = () => new Uint32Array(randomBytes(416 * 4 * 32).buffer).map((word) => word >>> 1);
const gadget = new Uint32Array(416 * 8).fill(1);
const one = new Uint32Array(8).fill(1);

test.each<[string, () => unknown]>([
  ['a product of the generator', () => own.multiplyGenerator(scalar)],
  ['a product of a point', () => own.multiplyPoint(point, scalar)],
  ['a sum of points', () => own.addPoints(point, point)],
  ['a negative', () => own.negatePoint(point)],
  ['a hash to the curve', () => own.hashToCurve(scalar, scalar)],
  ['a check of a scalar', () => own.isScalar(scalar)],
  ['a reduction', () => own.reduceWide(Uint8Array.of(...scalar, ...scalar.subarray(0, 16)))],
  ['a product of scalars', () => own.multiplyAdd(scalar, scalar, scalar)],
  ['a negative of a scalar', () => own.negateScalar(scalar)],
  ['the sums of a vector OLE', () => fold(gadget, new Uint32Array(4 * 8).fill(1), words())],
  ['a check of scalars', () => areScalars(words())],
  ['a reduction of numbers', () => reduced(words())],
  ['a sum of a gadget', () => selected(gadget, randomBytes(52))],
  ['differences', () => offset(words(), words(), [one, one, one, one])],
  ['chosen sums', () => chosen(words(), words(), randomBytes(52))],
  ['corrected checks', () => corrected(words().subarray(0, 416 * 2 * 8), [one, one], randomBytes(52))],
  ['a transposed matrix', () => transposed(new Int32Array(randomBytes(128 * 32 * 4).buffer))],
])('%s leaves nothing on the stack, in the buffer and in the vectors', (_name, run) => {
  expect(run()).toBeDefined();
  const buffer = functions.buffer();
  // The gadget before them is public.
  const vectors = functions.vectors() + 416 * 32;
  const parts = [
    memory.subarray(0, STACK_BYTES),
    memory.subarray(buffer, buffer + BUFFER_BYTES),
    memory.subarray(vectors, vectors + (4 + 416 * 4 + 2 + 416 * 2 + 416 * 4 + 4 + 2) * 32),
  ];
  expect(parts.map((part) => part.some((byte) => byte !== 0))).toEqual([false, false, false]);
  expect(Buffer.from(memory).includes(Buffer.from(scalar.subarray(0, 8)))).toBe(false);
});
