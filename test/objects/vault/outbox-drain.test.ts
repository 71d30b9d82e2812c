import { expect, test, vi } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { JobMessage } from '#objects/configuration.ts';
import type { OutboxJob } from '#objects/outbox.ts';
import { JOB_QUEUES } from '#objects/outbox.ts';
import { drainDue, drainProjection } from '#objects/vault/outbox-drain.ts';
import { SimulatedD1 } from '../../simulation/platform/d1.ts';
import type { Schedule } from '../../simulation/schedule.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';
import { newVaultScene } from './vault-scene.ts';

/** Covers the queue for each job. */

const JOBS: readonly OutboxJob[] = ['sign', 'broadcast', 'settle', 'confirm', 'follow', 'notify'];

async function drained() {
  const { storage, sql } = newVaultScene();
  for (const job of JOBS) storage.enqueueJob({ transactionId: `of-${job}`, job, version: 1, dueAtMs: 5, tries: 0 });
  storage.enqueueJob({ transactionId: '', job: 'reconcile', version: 0, dueAtMs: 5, tries: 0 });
  storage.enqueueJob({ transactionId: 'later', job: 'sign', version: 1, dueAtMs: 50, tries: 0 });
  const sent: Record<string, string[]> = {};
  const queue = (name: string) => ({
    sendBatch: async (batch: readonly { readonly body: JobMessage }[]) => {
      sent[name] = batch.map(({ body }) => body.job);
    },
  });
  const env = {
    SIGNING_QUEUE: queue('signing'),
    CONFIRMATION_QUEUE: queue('confirmation'),
    NOTIFICATION_QUEUE: queue('notification'),
  } as unknown as CoordinatorEnv;
  for (const name of JOB_QUEUES) await drainDue({ storage, env, vaultId: 7, nowMs: 10 }, name);
  const left = sql.exec<{ job: string; due_at_ms: number }>('SELECT job, due_at_ms FROM outbox').toArray();
  return { sent, left };
}

test('chain scans do not wait for signing, and no job waits for notifications', async () => {
  const { sent, left } = await drained();
  const sorted = Object.fromEntries(Object.entries(sent).map(([name, jobs]) => [name, jobs.toSorted()]));
  expect(sorted).toEqual({
    signing: ['broadcast', 'settle', 'sign'],
    confirmation: ['confirm', 'follow', 'reconcile'],
    notification: ['notify'],
  });
  // A row stays until its effect is recorded, and its message is sent again if the effect does not
  // follow.
  expect(left).toHaveLength(JOBS.length + 2);
  expect(left.filter(({ due_at_ms: due }) => due === 5)).toEqual([]);
});

/**
 * Returns a D1 that calls `afterBatch` after a batch was written, before the caller gets the
 * result.
 */
function databaseWith(afterBatch: () => void) {
  const call = async (name: string, work: () => unknown) => {
    const result = work();
    if (name === 'd1.batch') afterBatch();
    return result;
  };
  return new SimulatedD1({ call } as unknown as Schedule);
}

test('the history is projected again from the first line if D1 is reset during its projection', async () => {
  const { storage, host } = newVaultScene();
  const vault = host.vault();
  if (vault === null) throw new Error('the scene has a vault');
  storage.putVault(vault);
  for (const action of ['found', 'member', 'chain'])
    writeVaultChange(storage, vault, { action, detail: null, actor: null });
  let batches = 0;
  const d1 = databaseWith(() => {
    batches += 1;
    // The batches are the vault, its members, and then the history lines. D1 is reset after the
    // third batch.
    if (batches !== 3) return;
    for (const table of ['audit', 'members', 'vaults']) d1.db.run(`DELETE FROM ${table}`, []);
    storage.requeueProjection(Date.now() + 60_000);
  });
  await drainProjection(storage, { DB: d1 as unknown as D1Database }, () => storage.vault());
  const reported = (query: string) => d1.db.run(query, []).rows;
  expect(reported('SELECT seq FROM audit ORDER BY seq')).toEqual([{ seq: 1 }, { seq: 2 }, { seq: 3 }]);
  expect(reported('SELECT id, reference FROM vaults')).toEqual([{ id: 7, reference: 'treasury' }]);
  expect(reported('SELECT user_id FROM members')).toEqual([{ user_id: vault.members[0]?.userId }]);
  expect(storage.unprojected(1)).toEqual([]);
  expect(storage.unprojectedHistory(1).lines).toEqual([]);
});

test('a projection that stops between two pages of the history leaves an alarm for the rest', async () => {
  const { storage, host } = newVaultScene();
  const vault = host.vault();
  if (vault === null) throw new Error('the scene has a vault');
  storage.putVault(vault);
  const lines = 205;
  for (let i = 0; i < lines; i++) writeVaultChange(storage, vault, { action: 'chain', detail: `${i}`, actor: null });
  const reported = () => d1.db.run('SELECT seq FROM audit', []).rows.length;
  let [batches, isOver] = [0, false];
  const d1 = databaseWith(() => {
    batches += 1;
    // The second page is written, and then the writer fails before it gets the result.
    if (!isOver && reported() === lines) throw new Error('the object is gone');
  });
  await expect(drainProjection(storage, { DB: d1 as unknown as D1Database }, () => storage.vault())).rejects.toThrow(
    'gone',
  );
  // The batches are the vault, its members, and two pages. The vault and its members are not
  // projected again for each page.
  expect([batches, storage.unprojectedHistory(lines).lines.length, storage.nextDueAtMs(0)]).toEqual([
    4,
    5,
    expect.any(Number),
  ]);
  isOver = true;
  await drainProjection(storage, { DB: d1 as unknown as D1Database }, () => storage.vault());
  expect([reported(), storage.unprojectedHistory(lines).lines.length, storage.nextDueAtMs(0)]).toEqual([
    lines,
    0,
    null,
  ]);
});

test('an unreadable entry of the history is not projected and is logged, and the other entries are', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { storage, sql, host } = newVaultScene();
  const vault = host.vault();
  if (vault === null) throw new Error('the scene has a vault');
  storage.putVault(vault);
  for (const action of ['found', 'member', 'chain'])
    writeVaultChange(storage, vault, { action, detail: null, actor: null });
  for (const seq of [1, 3]) sql.exec('UPDATE history SET document = ? WHERE seq = ?', '{"v":1,"seq":"secret"}', seq);
  const d1 = databaseWith(() => {});
  await drainProjection(storage, { DB: d1 as unknown as D1Database }, () => storage.vault());
  expect(d1.db.run('SELECT seq FROM audit', []).rows).toEqual([{ seq: 2 }]);
  expect([storage.unprojected(1), storage.unprojectedHistory(1).lines]).toEqual([[], []]);
  expect(said.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown)).toEqual(
    [1, 3].map((seq) => ({
      event: 'alert',
      code: 'state-unreadable',
      detail: 'a stored history entry is damaged at seq',
      seq,
    })),
  );
  said.mockRestore();
});

test('two changes of a vault in one millisecond give two projections', async () => {
  const { storage, host } = newVaultScene();
  const vault = host.vault();
  if (vault === null) throw new Error('the scene has a vault');
  const change = () => writeVaultChange(storage, vault, { action: 'member', detail: null, actor: null });
  vi.useFakeTimers({ toFake: ['Date'] });
  change();
  const rows = storage.unprojected(1);
  change();
  vi.useRealTimers();
  storage.recordProjected({ afterSeq: 0, lines: [] }, rows);
  expect(storage.unprojected(1)).toHaveLength(1);
});

test('each change of a state has one line, once D1 has it, and other lines of the history have none', async () => {
  const { storage, host } = newVaultScene();
  const vault = host.vault();
  if (vault === null) throw new Error('the scene has a vault');
  storage.putVault(vault);
  writeVaultChange(storage, vault, { action: 'member', detail: 'bob', actor: null });
  const states = [
    [null, 'SUBMITTED'],
    ['SUBMITTED', 'SUBMITTED'],
    ['SUBMITTED', 'SIGNING'],
  ] as const;
  for (const [version, [from, to]] of states.entries())
    storage.history.append({
      transactionId: 'tx',
      version,
      action: 'approve',
      actor: null,
      from,
      to,
      reason: null,
      digest: null,
      detail: 'a text of a person',
      atMs: 5,
    });
  const d1 = databaseWith(() => {});
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const env = { DB: d1 as unknown as D1Database, LOG_SHARE: '1' };
  await drainProjection(storage, env, () => storage.vault());
  await drainProjection(storage, env, () => storage.vault());
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as object);
  log.mockRestore();
  const line = { event: 'state', vaultId: vault.id, transactionId: 'tx', action: 'approve', reason: null };
  expect(lines).toEqual([
    { ...line, seq: 2, from: null, to: 'SUBMITTED' },
    { ...line, seq: 4, from: 'SUBMITTED', to: 'SIGNING' },
  ]);
});
