import { expect, test } from 'vitest';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import { actor } from '../../domain/cast.ts';

const entry: HistoryEntry = {
  seq: 1,
  transactionId: '7.x',
  version: 1,
  action: 'approve',
  actor: actor(1),
  from: 'SUBMITTED',
  to: 'SIGNING',
  reason: 'r',
  digest: 'd',
  detail: 'x',
  atMs: 5,
  previousHash: NO_PREVIOUS_ENTRY,
};

const changes: readonly Partial<HistoryEntry>[] = [
  { seq: 2 },
  { transactionId: null },
  { version: 2 },
  { action: 'reject' },
  { actor: null },
  { actor: actor(2) },
  { actor: { ...actor(1), tokenId: actor(2).tokenId } },
  { actor: { ...actor(1), address: '192.0.2.7' } },
  { from: null },
  { to: null },
  { reason: null },
  { digest: null },
  { detail: null },
  { atMs: 6 },
  { previousHash: '1'.repeat(64) },
];

for (const change of changes) {
  test(`the hash covers ${Object.keys(change).join()}`, () => {
    expect(historyHash({ ...entry, ...change })).not.toBe(historyHash(entry));
  });
}
