import { expect, test } from 'vitest';
import { parseUserId, parseVaultId } from '#domain/id.ts';
import { putInbox } from '#store/notifications/inbox.ts';
import type { Person } from '../scene.worker.ts';
import { anotherToken, call, coordinator, enter } from '../scene.worker.ts';

/** Covers the inbox of a person: its pages, what is unread, and how much it keeps. */

const entry = (person: Person, number: number, differences: object = {}) => ({
  userId: person.id,
  id: `subject-${number}`,
  version: 1,
  atMs: 1_000 + number,
  kind: 'vault',
  title: `Event ${number}`,
  body: '',
  vaultId: 7,
  ...differences,
});

const fill = (person: Person, from: number, to: number) =>
  putInbox(
    coordinator.DB,
    Array.from({ length: to - from }, (_, i) => entry(person, from + i)),
  );

async function page(person: Person, query = '') {
  const { status, body } = await call(`GET /user/me/notifications${query}`, { token: person.token });
  expect(status).toBe(200);
  return body;
}

const titles = (data: readonly { readonly title: string }[]) => data.map(({ title }) => title);

test('the inbox has the newest first, in pages, and of another person nothing', async () => {
  const [owner, other] = [await enter('owner'), await enter('other')];
  await fill(owner, 0, 120);
  await fill(other, 500, 501);
  const seen: string[] = [];
  for (let query = ''; ;) {
    const { data, nextCursor, unread } = await page(owner, query);
    expect(unread).toBe(120);
    seen.push(...titles(data));
    if (nextCursor === null) break;
    query = `?cursor=${encodeURIComponent(nextCursor)}`;
  }
  expect(seen).toEqual(Array.from({ length: 120 }, (_, i) => `Event ${119 - i}`));
  for (const cursor of ['x', btoa('1'), btoa('1 a b'), `${btoa('1 a')}=`]) {
    const refused = await call(`GET /user/me/notifications?cursor=${cursor}`, { token: owner.token });
    expect([cursor, refused.status]).toEqual([cursor, 400]);
  }
});

test('entries are read up to a time, a later event of a subject is unread again, and a repeated one is not', async () => {
  const owner = await enter('owner');
  await fill(owner, 0, 3);
  const until = new Date(1_001).toISOString();
  const read = await call('POST /user/me/notifications/read', { token: owner.token, body: { until } });
  expect(read.status).toBe(204);
  expect((await page(owner)).unread).toBe(1);
  await putInbox(coordinator.DB, [entry(owner, 0), entry(owner, 1, { version: 2, atMs: 5_000, title: 'Later' })]);
  const { data, unread } = await page(owner);
  expect([unread, titles(data)]).toEqual([2, ['Later', 'Event 2', 'Event 0']]);
});

test('the inbox keeps the newest 500 entries of each person', async () => {
  const [owner, other] = [await enter('owner'), await enter('other')];
  await fill(other, 0, 3);
  await fill(owner, 0, 300);
  await fill(owner, 300, 510);
  const kept = await coordinator.DB.prepare('SELECT count(*) AS n, min(at_ms) AS oldest FROM inbox WHERE user_id = ?')
    .bind(owner.id)
    .first();
  expect([kept, (await page(other)).unread]).toEqual([{ n: 500, oldest: 1_010 }, 3]);
});

test('a token reads the entries of the vaults that it reaches, none of the account, and marks none', async () => {
  const owner = await enter('owner');
  const [userId, vaultId] = [parseUserId(owner.id), parseVaultId(7)];
  if (userId === null || vaultId === null) throw new Error('the ids must parse');
  await putInbox(coordinator.DB, [
    entry(owner, 1),
    entry(owner, 2, { vaultId: 8 }),
    entry(owner, 3, { vaultId: null, kind: 'account' }),
  ]);
  const limited = await anotherToken(owner, null, { vaultIds: [vaultId] });
  const { data, unread } = await page(limited);
  expect([titles(data), unread]).toEqual([['Event 1'], 1]);
  const body = { until: new Date(9_000).toISOString() };
  const refused = await call('POST /user/me/notifications/read', { token: limited.token, body });
  expect([refused.status, (await page(owner)).unread]).toEqual([403, 3]);
});
