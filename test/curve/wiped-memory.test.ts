import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type * as Curve from '#curve/secp256k1.ts';

/** Tests that the memory of the curve's code holds no secret after a call. */

type Module = typeof Curve;

const STACK_BYTES = 8_192;
const BUFFER_BYTES = 1_024;

/** Returns the functions over an instance of their own, and its memory. */
async function watched(): Promise<{ readonly own: Module; readonly exports: () => WebAssembly.Exports }> {
  const { Instance } = WebAssembly;
  const made: WebAssembly.Exports[] = [];
  class Watched extends Instance {
    constructor(...given: ConstructorParameters<typeof Instance>) {
      super(...given);
      made.push(this.exports);
    }
  }
  // A module with another query is another module.
  const path = '../../src/curve/secp256k1.ts?watched';
  const own = (await import(path)) as Module;
  WebAssembly.Instance = Watched;
  try {
    own.negatePoint(new Uint8Array(64));
  } finally {
    WebAssembly.Instance = Instance;
  }
  return { own, exports: () => made[0] ?? {} };
}

const { own, exports } = await watched();
const memory = () => new Uint8Array((exports()['memory'] as WebAssembly.Memory).buffer);
const addressOf = (name: string) => (exports()[name] as () => number)();

/** A scalar below the order, none of whose bytes is zero. */
function secret(): Uint8Array {
  return Uint8Array.from(randomBytes(32), (byte, i) => (i === 0 ? 1 : byte || 1));
}

const point = own.multiplyGenerator(secret());
const scalar = secret();
const words = () => new Uint32Array(randomBytes(416 * 4 * 32).buffer).map((word) => word >>> 1);
const gadget = new Uint32Array(416 * 8).fill(1);

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
  ['the sums of a vector OLE', () => own.fold(gadget, new Uint32Array(4 * 8).fill(1), words())],
])('%s leaves nothing on the stack, in the buffer and in the vectors', (_name, run) => {
  expect(run()).toBeDefined();
  const buffer = addressOf('buffer');
  // The gadget before them is public.
  const vectors = addressOf('vectors') + 416 * 32;
  const parts = [
    memory().subarray(0, STACK_BYTES),
    memory().subarray(buffer, buffer + BUFFER_BYTES),
    memory().subarray(vectors, vectors + (4 + 416 * 4 + 2 + 416 * 2) * 32),
  ];
  expect(parts.map((part) => part.some((byte) => byte !== 0))).toEqual([false, false, false]);
  expect(Buffer.from(memory()).includes(Buffer.from(scalar.subarray(0, 8)))).toBe(false);
});
