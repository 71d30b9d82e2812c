import { expect, test } from 'vitest';
import { excessiveGrowth } from '../../bench/growth-verdict.ts';

const grown = (ratio: number, baseline: string | null = 'list100') => ({ name: 'list10000', baseline, ratio });

test('a case that costs more than 1.5 times as much, beyond the noise, is reported by name', () => {
  expect(excessiveGrowth([grown(1), grown(1 / 1.6), grown(0.01, null)])).toEqual([]);
  expect(excessiveGrowth([grown(1 / 1.61), grown(0.01)])).toEqual([
    'list10000 costs 1.61 times as much as list100, of 1.5 (+ 0.1)',
    'list10000 costs 100.00 times as much as list100, of 1.5 (+ 0.1)',
  ]);
});

test('a ratio that was not measured is reported', () => {
  expect(excessiveGrowth([grown(Number.NaN)])).toHaveLength(1);
});
