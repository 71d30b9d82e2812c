import { expect, test, vi } from 'vitest';
import { ORDER } from '#curve/scalar.ts';
import { GENERATOR, LAMBDA, shortWeight } from '#mpc/secp256k1.ts';

test('a short weight is a + b lambda with halves of 64 bits, drawn anew each time', () => {
  expect(LAMBDA ** 3n % ORDER).toBe(1n);
  // Multiplying by lambda gives (beta x, y), another point with the same y. Only a cube root of 1
  // does this.
  const [point, turned] = [GENERATOR.toAffine(), GENERATOR.multiplyPublic(LAMBDA).toAffine()];
  expect([turned.y === point.y, turned.x === point.x]).toEqual([true, false]);
  const drawn = new BigUint64Array(2);
  const draw = vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    if (array instanceof BigUint64Array) array.set(drawn);
    return array;
  });
  const most = 2n ** 64n - 1n;
  const weights = [
    [0n, 0n],
    [1n, 0n],
    [0n, 1n],
    [most, most],
  ].map((halves) => {
    drawn.set(halves);
    return shortWeight();
  });
  draw.mockRestore();
  expect(weights).toEqual([0n, 1n, LAMBDA, (most + most * LAMBDA) % ORDER]);
  expect(new Set(Array.from({ length: 100 }, shortWeight)).size).toBe(100);
});
