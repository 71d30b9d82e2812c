import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { randomBytes } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import wabt from 'wabt';

const MPC = resolve(import.meta.dirname, '../../src/mpc/wasm');

test.each(['one-block-sha256', 'gf208'])(
  'the binary of %s is what its text says, one instruction for one',
  async (name) => {
    const text = readFileSync(resolve(MPC, `${name}.wat`), 'utf8');
    const module = (await wabt()).parseWat(`${name}.wat`, text, { simd: true });
    expect(Buffer.from(module.toBinary({}).buffer)).toEqual(readFileSync(resolve(MPC, `${name}.wasm`)));
  },
);

/** Of the instances that are made while a test runs. */
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

test('of a hash nothing stays in the memory, neither of what went in nor of what came out', async () => {
  const { hashFourfold, midstate } = await import('#mpc/wasm/one-block-sha256.ts');
  const state = midstate(randomBytes(64));
  const expected = hashFourfold(state, Int32Array.of(7), 1);
  // What stays until the process ends is public: the constants and the initial value, 72 words.
  const rest = words().subarray(72);
  for (const count of [1, 896, 7]) {
    hashFourfold(state, new Int32Array(randomBytes(16 * count).buffer), 4);
    expect(rest.every((word) => word === 0)).toBe(true);
  }
  rest.fill(-1);
  expect(hashFourfold(state, Int32Array.of(7), 1)).toEqual(expected);
});

test('of a product nothing stays in the memory, and a refused one leaves nothing to the next', async () => {
  const { combine } = await import('#mpc/wasm/gf208.ts');
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
  // As a call leaves it that the platform has ended in the middle: nothing behind it has run.
  words().fill(-1);
  expect(combine(matrix, 4, challenges)).toEqual(expected);
});
