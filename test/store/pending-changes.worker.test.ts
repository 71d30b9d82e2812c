import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { replaceMembers, upsertVault, pendingVaults } from '#store/vaults.ts';

const { DB } = env as unknown as CoordinatorEnv;

/** Covers the number of pending changes in the directory, which selects the vaults of a list. */

const entry = { id: 7, name: 'Treasury', reference: 'treasury', createdAtMs: 1 };
const selectedFor = async (userId: string) => (await pendingVaults(DB, userId, ['SUBMITTED'])).ids;
const selected = () => selectedFor('usr_bob');

test('a late projection of none does not hide a newer change, and one of a change can be repeated', async () => {
  await upsertVault(DB, { ...entry, pendingChanges: 0, seq: 3 });
  await replaceMembers(DB, 7, ['usr_bob']);
  expect(await selected()).toEqual([]);
  await upsertVault(DB, { ...entry, pendingChanges: 1, seq: 5 });
  await upsertVault(DB, { ...entry, pendingChanges: 0, seq: 4 });
  expect(await selected()).toEqual([7]);
  await upsertVault(DB, { ...entry, pendingChanges: 0, seq: 6 });
  expect(await selected()).toEqual([]);
});

test('a vault object that was restored to an earlier state shows its changes again', async () => {
  await upsertVault(DB, { ...entry, pendingChanges: 0, seq: 9 });
  await replaceMembers(DB, 7, ['usr_bob']);
  await upsertVault(DB, { ...entry, pendingChanges: 2, seq: 5 });
  expect(await selected()).toEqual([7]);
  expect(await selectedFor('usr_carol')).toEqual([]);
});

test('a transaction that waits selects its vault, and one in another state does not', async () => {
  await upsertVault(DB, { ...entry, pendingChanges: 0, seq: 20 });
  await replaceMembers(DB, 7, ['usr_bob']);
  const insert = `INSERT INTO transactions (id, vault_id, version, state, display_type, chain, direction, visible,
    created_at_ms, updated_at_ms, watched, record) VALUES ('7.A', 7, 1, 'SUBMITTED', 'SENT', 'anvil', 'out', ?, 1, 1, 1, '')`;
  for (const visible of [0, 1]) {
    await DB.prepare(insert).bind(visible).run();
    expect(await selected()).toEqual([7]);
    await DB.prepare("UPDATE transactions SET state = 'SIGNING' WHERE id = '7.A'").run();
    expect(await selected()).toEqual([]);
    await DB.prepare('DELETE FROM transactions').run();
  }
});
