import { describe, expect, test } from 'vitest';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { bodies, FUZZED_ROUTES } from './bodies.ts';

describe('fuzz', () => {
  test('has a valid body for each route that requires one, and for no other route', () => {
    const required = FUZZED_ROUTES.filter(({ body }) => body !== undefined).map(({ path }) => path);
    const known = Object.keys(bodies(seededRandom(1), { vaultId: 1, strangeVaultId: 2 }));
    expect(known.toSorted()).toEqual([...new Set(required)].toSorted());
  });
});
