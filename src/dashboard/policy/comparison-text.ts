import type { InferResponseType } from 'hono/client';
import type { api } from '#dashboard/api.ts';
import { approvalsText } from '#dashboard/text.ts';

/** What another policy would have decided about the last transactions of a vault. */
export type Comparison = InferResponseType<(typeof api.vault)[':vaultId']['policy-comparison']['$post']>;

type Different = Comparison['different'][number];

const REASONS: Readonly<Record<string, string>> = {
  unreadable: 'its effect cannot be decoded',
  'unbound-message': 'message that names no chain',
  'max-fee': 'maximum fee',
  'address-book': 'recipient not in the address book',
  'per-transaction': 'limit per transaction',
  'per-day': 'limit per 24 hours',
};

/** Returns what would have been different for one payment, such as `3 approvals instead of 2`. */
export function differenceText({ before, after }: Different): string {
  if (after.forbiddenBy !== null) return `been refused (${REASONS[after.forbiddenBy.rule] ?? after.forbiddenBy.rule})`;
  const needed = `needed ${approvalsText(after.requiredApprovals)}`;
  return before.forbiddenBy === null
    ? `${needed} instead of ${before.requiredApprovals}`
    : `${needed}, and is refused now (${REASONS[before.forbiddenBy.rule] ?? before.forbiddenBy.rule})`;
}

/**
 * Returns one sentence: `Of the last 100 payments, 12 would have needed 3 approvals instead of 2.`
 * The most frequent difference is first.
 */
export function comparisonText({ compared, different }: Comparison): string {
  if (compared === 0) return 'The vault has no payments to compare with.';
  const all = compared === 1 ? 'Of 1 payment' : `Of the last ${compared} payments`;
  if (different.length === 0) return `${all}, none would have been decided in another way.`;
  const counts = new Map<string, number>();
  for (const one of different) counts.set(differenceText(one), (counts.get(differenceText(one)) ?? 0) + 1);
  const groups = [...counts].toSorted(([, a], [, b]) => b - a);
  return `${all}, ${groups.map(([text, count]) => `${count} would have ${text}`).join('; ')}.`;
}
