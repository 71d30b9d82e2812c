import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The README names a test for whatever somebody might try. A test that is renamed or gone takes its row with it. */

const PROJECT = join(import.meta.dirname, '..', '..');
const SECTION = /^## What it withstands\n(.*?)^## /msu;

interface Row {
  readonly attempt: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

function rows(): readonly Row[] {
  const [, section = ''] = SECTION.exec(readFileSync(join(PROJECT, 'README.md'), 'utf8')) ?? [];
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => {
    const [attempt = '', , shown = ''] = line.split('|').slice(2, 5);
    const tests = shown.split(';').map((one) => {
      const [, file = '', title = ''] = /^\s*`([^`]+)`\s+(.+?)\s*$/u.exec(one) ?? [];
      return { file, title };
    });
    return { attempt: attempt.trim(), tests };
  });
}

test('there is a table of them', () => {
  expect(rows().length).toBeGreaterThan(25);
});

describe.each(rows())('$attempt', ({ tests }) => {
  test.each(tests)('$file shows it', ({ file, title }) => {
    const source = readFileSync(join(PROJECT, 'test', file), 'utf8');
    const titles = source.split('\n').filter((line) => /^\s*(?:test|describe|\]\)\(|\[?['"`])/u.test(line));
    expect(titles.some((line) => line.includes(title))).toBe(true);
  });
});
