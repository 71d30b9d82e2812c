import { expect, test } from 'vitest';
import type { Comparison } from '#dashboard/policy/comparison-text.ts';
import { comparisonText } from '#dashboard/policy/comparison-text.ts';

/** Covers the sentence about what a policy change would have decided. */

type Decision = Comparison['different'][number]['before'];

const needs = (requiredApprovals: number): Decision => ({ requiredApprovals, forbiddenBy: null });
const refusedBy = (rule: string): Decision => ({ requiredApprovals: 2, forbiddenBy: { rule, detail: '' } });

function textOf(compared: number, ...pairs: readonly (readonly [before: Decision, after: Decision])[]) {
  const different = pairs.map(([before, after], i) => ({ id: `tx_${i}`, before, after }));
  return comparisonText({ compared, moreApprovals: 0, fewerApprovals: 0, refused: 0, noLongerRefused: 0, different });
}

test('payments with the same difference are counted together, the most frequent difference first', () => {
  const pairs = [
    [needs(2), refusedBy('address-book')],
    ...Array.from({ length: 12 }, () => [needs(2), needs(3)] as const),
    [needs(3), needs(1)],
    [refusedBy('per-day'), needs(2)],
  ] as const;
  expect(textOf(100, ...pairs)).toBe(
    'Of the last 100 payments, 12 would have needed 3 approvals instead of 2; ' +
      '1 would have been refused (recipient not in the address book); ' +
      '1 would have needed 1 approval instead of 3; ' +
      '1 would have needed 2 approvals, and is refused now (limit per 24 hours).',
  );
});

test('a vault without payments, and payments without a difference, have a sentence of their own', () => {
  expect(textOf(0)).toBe('The vault has no payments to compare with.');
  expect(textOf(7)).toBe('Of the last 7 payments, none would have been decided in another way.');
  expect(textOf(1, [needs(1), needs(2)])).toBe('Of 1 payment, 1 would have needed 2 approvals instead of 1.');
});

test('a rule that the page does not know keeps its name', () => {
  expect(textOf(2, [needs(1), refusedBy('moon-phase')])).toContain('1 would have been refused (moon-phase)');
});
