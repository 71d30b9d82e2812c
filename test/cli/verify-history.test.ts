import { expect, test } from 'vitest';
import { chainFault } from '#cli/verify-history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { actor } from '../domain/cast.ts';

type Line = HistoryEntry & { readonly hash: string };

/** Returns a history in the format of the service. */
function chain(length: number): readonly Line[] {
  const lines: Line[] = [];
  for (let seq = 1; seq <= length; seq++) {
    const entry: HistoryEntry = {
      seq,
      transactionId: null,
      version: seq,
      action: 'approve',
      actor: actor(1),
      from: 'SUBMITTED',
      to: 'SUBMITTED',
      reason: null,
      digest: 'd',
      detail: null,
      atMs: seq,
      previousHash: lines.at(-1)?.hash ?? NO_PREVIOUS_ENTRY,
    };
    lines.push({ ...entry, hash: historyHash(entry) });
  }
  return lines;
}

const five = chain(5);
const [first, second, third, fourth, fifth] = five as [Line, Line, Line, Line, Line];

test('a history that the service wrote is valid', () => {
  expect([chainFault(five), chainFault([])]).toEqual([null, null]);
});

test.each<[string, readonly Line[], string]>([
  ['a line that was taken out', [first, second, fourth, fifth], 'Line 4'],
  ['the first line taken out', [second, third], 'Line 2'],
  ['two swapped lines', [first, third, second], 'Line 3'],
  ['a line that stands twice', [first, first], 'Line 1'],
  ['another person', [first, { ...second, actor: actor(2) }, third], 'Line 2 (approve) does not match its hash'],
  ['another time', [first, { ...second, atMs: 7 }], 'Line 2 (approve) does not match its hash'],
])('the verification finds %s', (_name, lines, words) => {
  expect(chainFault(lines)).toContain(words);
});

test('a line that was changed and hashed again breaks the chain at the next line', () => {
  const entry = { ...second, digest: 'another' };
  const { hash: _hash, ...rest } = entry;
  expect(chainFault([first, { ...rest, hash: historyHash(rest) }, third])).toContain(
    'Line 3 (approve) does not follow',
  );
});
