import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import type { TransactionId } from '#domain/id.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { alice, bob } from '../../domain/cast.ts';
import { approve, changePolicy, created, rows, stateOf, vaultWithWallet } from './object-scene.worker.ts';

/** Covers that a record of a vault that cannot be read stops its own use, and nothing else. */

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

async function damage(vault: VaultStub, id: TransactionId, document: string): Promise<void> {
  await runInDurableObject(vault, (_object, { storage }) => {
    storage.sql.exec('UPDATE tx SET document = ? WHERE id = ?', document, id);
  });
}

/** Approves inside the object: an error that leaves it would end the test run. */
function errorOfApproval(vault: VaultStub, id: TransactionId): Promise<string> {
  return runInDurableObject(vault, (object) =>
    approve(object as unknown as VaultDoors, alice, id).then(
      () => 'none',
      (error: unknown) => String(error),
    ),
  );
}

test.each([
  ['damaged', '{}'],
  ['of a newer version', '{"v":2}'],
])('a record that is %s is refused with an error, and the vault goes on', async (_name, document) => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { vault } = await vaultWithWallet();
  const [broken, sound] = [await created(vault), await created(vault)];
  await damage(vault, broken.id, document);
  expect(await errorOfApproval(vault, broken.id)).toContain('a stored transaction');
  await approve(vault, alice, sound.id);
  await changePolicy(vault, { threshold: 1 });
  expect((await stateOf(vault, sound.id)).approvals.length).toBe(1);
  expect(said.mock.calls.join()).toContain('state-unreadable');
  const third = await created(vault);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  // The platform may be running the alarm already, and would not wait for its end.
  await runInDurableObject(vault, (object) => object.alarm?.());
  expect([(await stateOf(vault, third.id)).state, (await stateOf(vault, sound.id)).state]).toEqual([
    'EXPIRED',
    'EXPIRED',
  ]);
  const left = await rows<{ tries: number }>(
    vault,
    `SELECT tries FROM outbox WHERE tx_id = '${broken.id}' AND job = 'expire'`,
  );
  expect(left).toEqual([{ tries: 1 }]);
  expect(await vault.query(bob, { type: 'projectedScope' })).toMatchObject({ ok: true });
});

test('the feed of a vault goes on past a damaged record and a damaged entry of the history', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { vault } = await vaultWithWallet();
  const start = await vault.query(bob, { type: 'beginFeed' });
  if (!start.ok) throw new Error('a member may read the feed');
  const [broken, sound, last] = [await created(vault), await created(vault), await created(vault)];
  await damage(vault, broken.id, '{}');
  await runInDurableObject(vault, (_object, { storage }) => {
    storage.sql.exec(`UPDATE history SET document = '{}' WHERE document ->> '$.transactionId' = ?`, last.id);
  });
  const changes = await vault.query(bob, { type: 'nextChanges', after: start.value, waitMs: 0 });
  if (!changes.ok) throw new Error('a member may read the feed');
  const shown = changes.value.transactions.map((view) => ('transaction' in view ? view.transaction.id : null));
  expect([shown, changes.value.seq]).toEqual([[sound.id], start.value + 3]);
  const alerts = said.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('state-unreadable'));
  // The alarm of the vault may have read the damaged record, too, and logs the same line.
  expect(new Set(alerts).size).toBe(2);
});
