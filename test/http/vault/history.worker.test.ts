import { afterEach, expect, test, vi } from 'vitest';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import { anotherToken, call, coordinator, created, foundTreasury } from '../scene.worker.ts';

/** Covers the history of approvals, as an auditor reads it a year later. */

type Line = HistoryEntry & { readonly hash: string; readonly at: string };

afterEach(() => {
  vi.restoreAllMocks();
});

const short = ({ action, actor, from, to }: Line) => [action, actor?.userId ?? null, from, to];

test('the history of a transaction has every step with its person, token, digest and time', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, victor } = treasury;
  const { body } = await created(treasury);
  await call(`POST /transaction/${body['id']}/approve`, { token: alice.token });
  await call(`POST /transaction/${body['id']}/approve`, { token: alice.token });
  await call(`POST /transaction/${body['id']}/reject`, { token: bob.token });
  const { status, body: page } = await call(`GET /transaction/${body['id']}/history`, { token: victor.token });
  const lines: readonly Line[] = page['history'];
  expect([status, page['nextAfter']]).toEqual([200, null]);
  expect(lines.map(short)).toEqual([
    ['create', alice.id, null, 'SUBMITTED'],
    ['approve', alice.id, 'SUBMITTED', 'SUBMITTED'],
    ['reject', bob.id, 'SUBMITTED', 'REJECTED'],
  ]);
  expect(lines.every(({ digest }) => digest === body['digest'])).toBe(true);
  expect(lines.map(({ actor }) => actor?.tokenId)).toEqual([alice, alice, bob].map(({ token }) => token.slice(12, 28)));
  expect(lines.every(({ at }) => /^\d{4}-\d\d-\d\dT/.test(at))).toBe(true);
});

test('the history of a vault is one unbroken chain, page by page', async () => {
  const treasury = await foundTreasury();
  for (let i = 0; i < 3; i++) {
    const { body } = await created(treasury);
    await call(`POST /transaction/${body['id']}/approve`, { token: treasury.bob.token });
  }
  const lines: Line[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const { token } = await anotherToken(treasury.victor);
    const { body } = await call(`GET /vault/${treasury.id}/history?limit=3&after=${after}`, { token });
    lines.push(...(body['history'] as readonly Line[]));
    after = body['nextAfter'];
  }
  // The lines are the creation, the key, four acceptances, and two lines for each of three
  // transactions.
  expect(lines.length).toBe(12);
  let previousHash = NO_PREVIOUS_ENTRY;
  for (const [i, { hash, at: _at, ...entry }] of lines.entries()) {
    expect([entry.seq, entry.previousHash, historyHash(entry)]).toEqual([i + 1, previousHash, hash]);
    previousHash = hash;
  }
});

test('a stranger sees no history, and does not learn whether it exists', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const { token } = treasury.mallory;
  for (const path of [`/transaction/${body['id']}/history`, `/vault/${treasury.id}/history`, '/vault/999999/history']) {
    const answer = await call(`GET ${path}`, { token });
    expect([path, answer.status, answer.body['code']]).toEqual([path, 403, 'forbidden']);
  }
});

test.each(['limit=0', 'limit=501', 'limit=x', 'after=-1', 'after=1.5', 'before=3', `after=${'9'.repeat(20)}`])(
  'the query history?%s is refused',
  async (query) => {
    const treasury = await foundTreasury();
    const answer = await call(`GET /vault/${treasury.id}/history?${query}`, { token: treasury.victor.token });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid-request']);
  },
);

test('a damaged entry in the read model is missing from the history and logged, and the other entries are shown', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const treasury = await foundTreasury();
  await created(treasury);
  const read = (query: string) => call(`GET /vault/${treasury.id}/history${query}`, { token: treasury.victor.token });
  const seqsOf = ({ body }: Awaited<ReturnType<typeof read>>) => (body['history'] as Line[]).map(({ seq }) => seq);
  expect(seqsOf(await read(''))).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const damage = 'UPDATE audit SET entry = ? WHERE vault_id = ? AND seq = 2';
  await coordinator.DB.prepare(damage).bind('{"v":1,"seq":"secret"}', treasury.id).run();
  expect(seqsOf(await read(''))).toEqual([1, 3, 4, 5, 6, 7]);
  const page = await read('?limit=2');
  expect([seqsOf(page), page.body['nextAfter']]).toEqual([[1], 2]);
  expect(seqsOf(await read('?limit=2&after=2'))).toEqual([3, 4]);
  expect(said.mock.calls.join()).toMatch(new RegExp(`"state-unreadable",.*"vaultId":${treasury.id},"seq":2`, 'u'));
  expect(said.mock.calls.join()).not.toContain('secret');
});
