import { expect, test } from 'vitest';
import { asService, call, coordinator, created, enter, foundTreasury } from '../scene.worker.ts';
import type { Treasury } from '../scene.worker.ts';

/** D1 was restored to an older state, or lost: what the vaults know is told again, and no number is given out twice. */

const database = (query: string, ...values: readonly unknown[]) =>
  coordinator.DB.prepare(query)
    .bind(...values)
    .run();

/** As if the vault had been founded after the moment to which D1 was set back. */
async function forget({ id }: Pick<Treasury, 'id'>): Promise<void> {
  for (const table of ['members', 'wallets', 'transactions', 'audit']) {
    await database(`DELETE FROM ${table} WHERE vault_id = ?`, id);
  }
  await database('DELETE FROM vaults WHERE id >= ?', id);
  await database('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', id - 1, 'vaults');
}

/** A vault that has told everything: what it still owed it would tell at any moment. */
async function settledTreasury(differences: Parameters<typeof foundTreasury>[0] = {}): Promise<Treasury> {
  const treasury = await foundTreasury(differences);
  expect((await asService(`GET /internal/vault/${treasury.id}`)).status).toBe(200);
  return treasury;
}

async function directoryOf({ id }: Pick<Treasury, 'id'>) {
  const query = 'SELECT name, reference, created_at_ms FROM vaults WHERE id = ?';
  const members = 'SELECT user_id FROM members WHERE vault_id = ? ORDER BY user_id';
  const wallets = 'SELECT chain, key_id FROM wallets WHERE vault_id = ? ORDER BY chain';
  return Promise.all([query, members, wallets].map(async (one) => (await database(one, id)).results));
}

async function creation(name: string) {
  const { id } = await enter('trent');
  const terms = { members: [{ userId: id, roles: ['signer'] }], threshold: 1, approvalMode: 'token' } as const;
  const body = { name, reference: `acme/${name}`, initialState: 'SUBMITTED', chains: ['anvil'], ...terms };
  return () => asService('POST /internal/vault', body);
}

test('a list, a history and the directory are as they were', async () => {
  const treasury = await settledTreasury();
  const [first, second] = [await created(treasury), await created(treasury)];
  await call(`POST /transaction/${first.body['id']}/approve`, { token: treasury.bob.token });
  const read = async () => [
    (await call(`GET /vault/${treasury.id}/transactions`, { token: treasury.alice.token })).body,
    (await call(`GET /vault/${treasury.id}/history`, { token: treasury.alice.token })).body,
    (await call(`GET /transaction/${second.body['id']}/history`, { token: treasury.alice.token })).body,
    await directoryOf(treasury),
  ];
  const before = await read();
  await forget(treasury);
  expect(await read()).not.toEqual(before);
  const answer = await asService(`POST /internal/vault/${treasury.id}/projection`);
  expect([answer.status, answer.body]).toEqual([202, { records: 2, lines: expect.any(Number) as number }]);
  expect(answer.body['lines']).toBeGreaterThanOrEqual(4);
  expect(await read()).toEqual(before);
  // Again, with all of it there.
  expect((await asService(`POST /internal/vault/${treasury.id}/projection`)).status).toBe(202);
  expect(await read()).toEqual(before);
});

test('nobody who founds a vault is given one that is there already', async () => {
  const [lost, alsoLost] = [await settledTreasury({ name: 'First' }), await settledTreasury({ name: 'Second' })];
  const before = await Promise.all([lost, alsoLost].map(directoryOf));
  await forget(alsoLost);
  await forget(lost);
  const found = await creation('third');
  const { status, body } = await found();
  expect([status, body['name'], body['members'].length]).toEqual([201, 'third', 1]);
  expect(body['id']).toBe(alsoLost.id + 1);
  expect((await found()).body['id']).toBe(body['id']);
  // What had their numbers is entered anew.
  expect(await Promise.all([lost, alsoLost].map(directoryOf))).toEqual(before);
});

test('a founding that is asked for again finds the vault that it made before D1 was set back', async () => {
  const other = await settledTreasury();
  const found = await creation('fourth');
  const { body } = await found();
  await forget(other);
  expect((await found()).body['id']).toBe(body['id']);
});

test('a number that somebody else was given meanwhile goes back to the vault that has it', async () => {
  const treasury = await settledTreasury();
  const before = await directoryOf(treasury);
  await forget(treasury);
  // Whoever founded it died before the object was asked.
  await database('INSERT INTO vaults (name, reference, created_at_ms) VALUES (?, ?, ?)', 'Other', 'acme/other', 1);
  const found = await creation('other');
  const { body } = await found();
  expect(body['id']).not.toBe(treasury.id);
  expect(await directoryOf(treasury)).toEqual(before);
});
