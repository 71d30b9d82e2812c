import { expect, test } from 'vitest';
import { withMemory, withTable } from '../../bench/performance-tables.ts';

const DOCUMENT = 'before\n\n<!-- npm run bench -- --write writes from here -->\nold\n<!-- to here -->\n\nafter\n';
const ROWS = [
  { what: 'bare', rps: 12_000.4, lastingRps: 11_999, p50Ms: 0.123, p95Ms: 1, ratio: null },
  { what: 'approve', rps: 500, lastingRps: 120.5, p50Ms: 2, p95Ms: 3.45, ratio: { value: 0.257, of: 'bare' } },
];

test('the figures of a new run replace the previous figures, and the rest of the text stays unchanged', () => {
  const written = withTable(DOCUMENT, ROWS, 'figures');
  expect(written).toContain('| approve | 500        | 121     | 2.0    | 3.5    | 0.26 of bare       |');
  expect(written).toContain('| bare    | 12000      | 11999   | 0.1    | 1.0    |                    |');
  expect(written).not.toContain('old');
  expect([written.startsWith('before\n\n<!--'), written.endsWith('<!-- to here -->\n\nafter\n')]).toEqual([true, true]);
  expect(withTable(written, ROWS, 'figures')).toBe(written);
});

test('a latency that was not measured is left out of the table', () => {
  const rows = [{ what: 'approve', rps: 500, lastingRps: 500, p50Ms: Number.NaN, p95Ms: Number.NaN, ratio: null }];
  expect(withTable(DOCUMENT, rows, 'figures')).toContain(
    '| approve | 500        | 500     |        |        |                    |',
  );
});

test('a text without markers for the tables is unchanged', () => {
  for (const text of ['', DOCUMENT.replace('<!-- to here -->', ''), DOCUMENT.replace('writes from here', '')])
    expect(() => withTable(text, ROWS, 'figures')).toThrow('no place');
});

const MEMORY = new Map([['conclave', { most: 20 * 2 ** 20, inUse: 8.5 * 2 ** 20 }]]);

test('each table is found by its own markers', () => {
  const growth = '<!-- npm run bench -- --growth --write writes from here -->\n<!-- to here -->\n';
  const memory = '<!-- npm run bench -- --growth --write, its memory, writes from here -->\n<!-- to here -->\n';
  const document = `${DOCUMENT}${growth}${memory}`;
  const grown = withTable(document, ROWS, 'growth');
  expect(grown.startsWith(DOCUMENT)).toBe(true);
  const written = withMemory(grown, MEMORY);
  expect(written).toContain('| `conclave` | 20.0        | 8.5               |');
  expect(written.indexOf('approve')).toBeGreaterThan(DOCUMENT.length);
  expect(withMemory(withTable(written, ROWS, 'growth'), MEMORY)).toBe(written);
  expect(() => withMemory(DOCUMENT, new Map())).toThrow('no place');
});
