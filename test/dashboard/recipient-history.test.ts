import { expect, test } from 'vitest';
import { recipientHistoryText } from '#dashboard/approval/recipient-history.ts';

const said = (kind: string, count: number, lastAt: string | null) =>
  recipientHistoryText({ earlier: { count, lastAt }, intent: { kind } });
const LAST = '2026-11-03T23:59:59.999Z';

test('earlier transactions are put into words by their kind', () => {
  expect(said('transfer', 0, null)).toBe('First payment to this address');
  expect(said('transfer', 1, LAST)).toBe('Paid once, on 3 November 2026');
  expect(said('transfer', 12, LAST)).toBe('Paid 12 times, last on 3 November 2026');
  expect(said('erc20-approve', 0, null)).toBe('First allowance to this spender');
  expect(said('contract-interaction', 2, LAST)).toBe('Called 2 times, last on 3 November 2026');
  expect(recipientHistoryText({ earlier: null, intent: { kind: 'message' } })).toBeNull();
});
