import { expect, test } from 'vitest';
import { asService, call, coordinator, created, enter, foundTreasury } from '../scene.worker.ts';
import type { Treasury } from '../scene.worker.ts';

/**
 * Covers a D1 database that was restored to an older state, or lost: the vaults project their
 * records again, and no vault number is given out twice.
 */

const database = (query: string, ...values: readonly unknown[]) =>
  coordinator.DB.prepare(query)
    .bind(...values)
    .run();

/**
 * Removes the rows of a vault, as if the vault had been created after the moment to which D1 was
 * restored.
 */
async function forget({ id }: Pick<Treasury, 'id'>): Promise<void> {
  for (const table of ['members', 'wallets', 'transactions', 'audit']) {
    await database(`DELETE FROM ${table} WHERE vault_id = ?`, id);
  }
  await database('DELETE FROM vaults WHERE id >= ?', id);
  await database('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', id - 1, 'vaults');
}

/** Returns a vault without pending projections. Otherwise it could write to D1 at any moment. */
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

test('the list, the history and the directory of a vault are the same after a projection', async () => {
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
  // The second projection finds all rows present.
  expect((await asService(`POST /internal/vault/${treasury.id}/projection`)).status).toBe(202);
  expect(await read()).toEqual(before);
});

test('a creation never returns an existing vault of another reference', async () => {
  const [lost, alsoLost] = [await settledTreasury({ name: 'First' }), await settledTreasury({ name: 'Second' })];
  const before = await Promise.all([lost, alsoLost].map(directoryOf));
  await forget(alsoLost);
  await forget(lost);
  const found = await creation('third');
  const { status, body } = await found();
  expect([status, body['name'], body['members'].length]).toEqual([201, 'third', 1]);
  expect(body['id']).toBeGreaterThan(alsoLost.id);
  expect((await found()).body['id']).toBe(body['id']);
  // The vaults that already have the next numbers are written to the directory again.
  expect(await Promise.all([lost, alsoLost].map(directoryOf))).toEqual(before);
});

test('a repeated creation returns the vault that it created before D1 was restored', async () => {
  const other = await settledTreasury();
  const found = await creation('fourth');
  const { body } = await found();
  await forget(other);
  expect((await found()).body['id']).toBe(body['id']);
});

test('a number that D1 gave to another vault meanwhile returns to the vault that has it', async () => {
  const treasury = await settledTreasury();
  const before = await directoryOf(treasury);
  await forget(treasury);
  // The Worker of another creation stopped after this insert, before it called the object of the
  // vault.
  await database('INSERT INTO vaults (name, reference, created_at_ms) VALUES (?, ?, ?)', 'Other', 'acme/other', 1);
  const found = await creation('other');
  const { body } = await found();
  expect(body['id']).not.toBe(treasury.id);
  expect(await directoryOf(treasury)).toEqual(before);
});
