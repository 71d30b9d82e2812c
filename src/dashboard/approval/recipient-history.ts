import type { Challenge } from '#dashboard/api.ts';
import { dayText } from '#dashboard/times.ts';

/** The label of the remark on earlier transactions. */
export const RECIPIENT_HISTORY = 'Earlier transactions';

interface Words {
  readonly first: string;
  readonly again: string;
}

const WORDS: Readonly<Record<string, Words | undefined>> = {
  transfer: { first: 'First payment to this address', again: 'Paid' },
  'erc20-approve': { first: 'First allowance to this spender', again: 'Allowed' },
  'contract-interaction': { first: 'First call of this contract', again: 'Called' },
};

/**
 * Returns what the service claims about earlier transactions to the same recipient, such as `Paid
 * 12 times, last on 3 November 2026` (UTC); null for a message.
 */
export function recipientHistoryText({ earlier, intent }: Pick<Challenge, 'earlier' | 'intent'>): string | null {
  const words = WORDS[intent.kind];
  if (earlier === null || words === undefined) return null;
  const { count, lastAt } = earlier;
  if (count === 0 || lastAt === null) return words.first;
  const day = dayText(lastAt);
  return count === 1 ? `${words.again} once, on ${day}` : `${words.again} ${count} times, last on ${day}`;
}
