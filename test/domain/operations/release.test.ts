import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { RELEASE } from '#domain/operations/release.ts';

test('the Workers state the version of package.json as their release', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  expect(RELEASE).toBe(version);
});
