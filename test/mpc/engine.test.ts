import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { randomBytes } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import wabt from 'wabt';

const MPC = resolve(import.meta.dirname, '../../src/mpc/wasm');

test.each(['one-block-sha256', 'gf208'])(
  'the binary of %s is assembled from its text, instruction by instruction',
  async (name) => {
    const text = readFileSync(resolve(MPC, `${name}.wat`), 'utf8');
    const module = (await wabt()).parseWat(`${name}.wat`, text, { simd: true });
    expect(Buffer.from(module.toBinary({}).buffer)).toEqual(readFileSync(resolve(MPC, `${name}.wasm`)));
  },
);

/** The memories of the WebAssembly instances that a test creates. */
let memories: WebAssembly.Memory[] = [];

beforeEach(() => {
  memories = [];
  const { Instance } = WebAssembly;
  vi.spyOn(WebAssembly, 'Instance').mockImplementation(function (module, imports) {
    const instance = new Instance(module, imports);
    memories.push(instance.exports['memory'] as WebAssembly.Memory);
    return instance;
  });
  vi.resetModules();
});

afterEach(() => {
  vi.restoreAllMocks();
});

function words(): Int32Array {
  const [memory] = memories;
  if (memory === undefined || memories.length !== 1) throw new Error('one instance of the code');
  return new Int32Array(memory.buffer);
}

test('a hash leaves neither its input nor its output in the WebAssembly memory', async () => {
  const { hashFourfold, midstate } = await import('#mpc/wasm/one-block-sha256.ts');
  const state = midstate(randomBytes(64));
  const expected = hashFourfold(state, Int32Array.of(7), 1);
  // The first 72 words remain until the process ends. They are public: the constants and the
  // initial value.
  const rest = words().subarray(72);
  for (const count of [1, 896, 7]) {
    hashFourfold(state, new Int32Array(randomBytes(16 * count).buffer), 4);
    expect(rest.every((word) => word === 0)).toBe(true);
  }
  rest.fill(-1);
  expect(hashFourfold(state, Int32Array.of(7), 1)).toEqual(expected);
});

test('a product leaves nothing in the WebAssembly memory, not even after a refusal', async () => {
  const { combine } = await import('#mpc/ecdsa/gf208.ts');
  const matrix = new Int32Array(randomBytes(624 * 4 * 4).buffer);
  const challenges = { first: randomBytes(26), second: randomBytes(26) };
  const expected = combine(matrix, 4, challenges);
  expect(words().every((word) => word === 0)).toBe(true);
  const second = Object.defineProperty({ ...challenges }, 'second', {
    get: () => {
      throw new Error('in the middle');
    },
  });
  expect(() => combine(matrix, 4, second)).toThrow('in the middle');
  expect(words().every((word) => word === 0)).toBe(true);
  // Fills the memory as a call would leave it that the platform stopped in the middle, before its
  // clean-up.
  words().fill(-1);
  expect(combine(matrix, 4, challenges)).toEqual(expected);
});
