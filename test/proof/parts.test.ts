import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODE_TESTS, OUTSIDE_TESTS } from './parts.ts';

test('npm run proof runs every test file', () => {
  const paths = [...Object.values(NODE_TESTS), ...Object.values(OUTSIDE_TESTS)].flat();
  // The test files that run in workerd are one part.
  const files = globSync('test/**/*.test.ts').filter((file) => !file.endsWith('.worker.test.ts'));
  expect(files.length).toBeGreaterThan(250);
  expect(files.filter((file) => !paths.some((path) => file.includes(path)))).toEqual([]);
});

test('every path of a part exists', () => {
  for (const path of [...Object.values(NODE_TESTS), ...Object.values(OUTSIDE_TESTS)].flat()) {
    expect([path, globSync(path).length]).toEqual([path, 1]);
  }
});
