import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TransactionId } from '#domain/id.ts';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { PRUNE_AFTER_MS } from '#objects/vault/tables/retention-table.ts';
import { alice, bob, carol, OPERATOR } from '../../../domain/cast.ts';
import {
  approve,
  changePolicy,
  coordinator,
  created,
  reject,
  rows,
  transfer,
  vaultWithWallet,
} from '../object-scene.worker.ts';

/** Covers the deletion of drafts that were cancelled, and that no signer ever approved. */

const DAY_MS = 24 * 60 * 60 * 1000;

// The clock of the platform is a day behind, so it never runs an alarm itself.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS }));
afterEach(() => void vi.useRealTimers());

async function cancel(vault: VaultStub, id: TransactionId): Promise<void> {
  const ended = await vault.execute(alice, { type: 'cancel', id, acknowledged: null });
  expect(ended).toMatchObject({ value: { transaction: { state: 'CANCELLED' } } });
}

async function cancelled(vault: VaultStub, externalId: string | null = null): Promise<TransactionId> {
  const { id } = await created(vault, alice, transfer({ externalId }));
  await cancel(vault, id);
  return id;
}

/** Lets time pass, and runs the alarm twice: the second one writes the read model. */
async function pass(vault: VaultStub, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms);
  for (const _run of ['does what is due', 'projects']) {
    await runInDurableObject(vault, (_object, { storage }) => storage.setAlarm(Date.now()));
    await runDurableObjectAlarm(vault);
    vi.setSystemTime(Date.now() + 1_000);
  }
}

async function idsOf(
  vault: VaultStub,
): Promise<{ readonly vault: readonly string[]; readonly list: readonly string[] }> {
  const stored = await rows<{ id: string }>(vault, 'SELECT id FROM tx ORDER BY id');
  const ids = stored.map(({ id }) => id);
  const vaultId = await rows<{ id: number }>(vault, "SELECT document ->> '$.id' AS id FROM vault");
  const listed = await coordinator.DB.prepare('SELECT id FROM transactions WHERE vault_id = ? ORDER BY id')
    .bind(vaultId[0]?.id)
    .all<{ id: string }>();
  return { vault: ids, list: listed.results.map(({ id }) => id) };
}

const linesOf = (vault: VaultStub, id: string) =>
  rows<{ action: string }>(
    vault,
    `SELECT document ->> '$.action' AS action FROM history WHERE document ->> '$.transactionId' = '${id}' ORDER BY seq`,
  );

test('a cancelled draft is deleted a month later, everywhere but in the history', async () => {
  const { vault } = await vaultWithWallet();
  const id = await cancelled(vault, 'invoice-1');
  await pass(vault, PRUNE_AFTER_MS - 5_000);
  expect(await idsOf(vault)).toEqual({ vault: [id], list: [id] });
  await pass(vault, 5_000);
  expect(await idsOf(vault)).toEqual({ vault: [], list: [] });
  expect(await linesOf(vault, id)).toEqual([{ action: 'create' }, { action: 'cancel' }, { action: 'prune' }]);
  expect(await rows(vault, 'SELECT * FROM external')).toEqual([]);
  expect(await rows(vault, "SELECT tx_id FROM outbox WHERE job IN ('prune', 'project')")).toEqual([]);
  expect(await vault.query(alice, { type: 'readRecord', id })).toMatchObject({
    refusal: { code: 'transaction-not-found' },
  });
});

test('a member cannot keep a draft by hiding it, and a later record keeps the name of the draft', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault, alice, transfer({ externalId: 'invoice-1' }));
  await vault.execute(alice, { type: 'setVisibility', id, visible: false });
  await cancel(vault, id);
  await vault.execute(alice, { type: 'setVisibility', id, visible: true });
  const { id: later } = await created(vault, alice, transfer({ externalId: 'invoice-1' }));
  await pass(vault, PRUNE_AFTER_MS);
  expect((await idsOf(vault)).vault).toEqual([later]);
  expect(await rows(vault, 'SELECT tx_id FROM external')).toEqual([{ tx_id: later }]);
});

test('what a signer approved or rejected, and what expired, stays', async () => {
  const { vault } = await vaultWithWallet();
  const approved = await created(vault);
  await approve(vault, bob, approved.id);
  await cancel(vault, approved.id);
  // The approval of a signer who was removed no longer counts, but it was given.
  const dropped = await created(vault);
  await approve(vault, carol, dropped.id);
  await changePolicy(vault, { signers: [alice.userId, bob.userId] });
  await cancel(vault, dropped.id);
  const rejected = await created(vault);
  await reject(vault, bob, rejected.id);
  const expired = await created(vault);
  await pass(vault, PRUNE_AFTER_MS);
  await pass(vault, PRUNE_AFTER_MS);
  const all = [approved, dropped, rejected, expired].map(({ id }) => id);
  expect(await idsOf(vault)).toEqual({ vault: all.toSorted(), list: all.toSorted() });
});

test('a database that was restored loses what was deleted since', async () => {
  const { vault } = await vaultWithWallet();
  const id = await cancelled(vault);
  await pass(vault, 0);
  const copy = coordinator.DB.prepare('INSERT INTO transactions SELECT * FROM kept');
  await coordinator.DB.prepare('CREATE TABLE kept AS SELECT * FROM transactions WHERE id = ?').bind(id).run();
  await pass(vault, PRUNE_AFTER_MS);
  await copy.run();
  expect((await idsOf(vault)).list).toEqual([id]);
  await vault.execute(OPERATOR, { type: 'requeueProjection' });
  await pass(vault, 0);
  expect(await idsOf(vault)).toEqual({ vault: [], list: [] });
});
