import { env } from 'cloudflare:workers';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/d1';
import { expect, test } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { jsonTexts } from '#store/json-rows.ts';
import { audit, transactions } from '#store/schema.ts';
import type { AuditRow, ProjectedRow } from '#store/transactions.ts';
import { claimStalledVaults, project } from '#store/transactions.ts';

const { DB } = env as unknown as CoordinatorEnv;

const row = (version: number, state: string): ProjectedRow => ({
  id: '7.01J9ZK0000000000000000000P',
  vaultId: 7,
  version,
  state,
  stateReason: null,
  displayType: 'SENT',
  chain: 'anvil',
  direction: 'out',
  visible: true,
  createdAtMs: 1,
  updatedAtMs: version,
  txHash: null,
  externalId: null,
  memo: null,
  watched: true,
  dueAtMs: 1,
  record: JSON.stringify({ state }),
  kind: 'transfer',
  createdBy: null,
  tokens: '',
  counterparties: ' 0x1 ',
});
const line: AuditRow = { vaultId: 7, seq: 1, transactionId: null, atMs: 1, entry: '{}', hash: 'first' };

test('a late or repeated projection does not overwrite newer data in the read model', async () => {
  await project(DB, { records: [row(2, 'SIGNING')], lines: [line], deleted: [] });
  await project(DB, { records: [row(4, 'BROADCAST')], lines: [], deleted: [] });
  await project(DB, { records: [row(3, 'SIGNING')], lines: [{ ...line, hash: 'another' }], deleted: [] });
  await project(DB, { records: [row(4, 'SIGNING')], lines: [], deleted: [] });
  const stored = await DB.prepare('SELECT version, state, record FROM transactions WHERE vault_id = 7').all();
  expect(stored.results).toEqual([{ version: 4, state: 'BROADCAST', record: '{"state":"BROADCAST"}' }]);
  const lines = await DB.prepare('SELECT hash FROM audit WHERE vault_id = 7').all();
  expect(lines.results).toEqual([{ hash: 'first' }]);
});

test('a projection is as large as necessary, and keeps every character', async () => {
  const record = (i: number) => JSON.stringify({ i, note: `"\\\0 \u2028 💶 ${'€'.repeat(20_000)}` });
  const records = Array.from({ length: 60 }, (_, i) => ({
    ...row(1, 'SUCCEEDED'),
    id: `8.${String(i).padStart(26, '0')}`,
    vaultId: 8,
    stateReason: i % 2 === 0 ? null : 'TX_REVERTED',
    txHash: '0x0123',
    externalId: '42',
    visible: i % 2 === 0,
    watched: false,
    dueAtMs: null,
    record: record(i),
  }));
  const lines = Array.from({ length: 200 }, (_, i) => ({ ...line, vaultId: 8, seq: i + 1, entry: record(i) }));
  expect(jsonTexts(records).length).toBeGreaterThan(1);
  expect(Math.max(...jsonTexts([...records, ...lines]).map(bytesIn))).toBeLessThan(2_000_000);
  await project(DB, { records, lines, deleted: [] });
  const stored = await drizzle(DB)
    .select()
    .from(transactions)
    .where(eq(transactions.vaultId, 8))
    .orderBy(transactions.id);
  expect(stored).toEqual(records);
  const kept = await drizzle(DB).select().from(audit).where(eq(audit.vaultId, 8)).orderBy(audit.seq);
  expect(kept).toEqual(lines);
  expect(jsonTexts([])).toEqual([]);
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Stores one record of a vault, which changed last at a time and is due at another one. */
async function storeDue(vaultId: number, updatedAtMs: number, dueAtMs: number | null): Promise<void> {
  const id = `${vaultId}.${String(vaultId).padStart(26, '0')}`;
  await project(DB, { records: [{ ...row(1, 'SIGNING'), id, vaultId, updatedAtMs, dueAtMs }], lines: [], deleted: [] });
}

test('records that wait for people or for finality take no places of the vault whose alarm was lost', async () => {
  await DB.prepare('DELETE FROM transactions').run();
  const nowMs = 100 * HOUR_MS;
  // Unchanged for days, and due at the end of their decision period.
  for (let i = 0; i < 150; i++) await storeDue(1000 + i, i, nowMs + HOUR_MS);
  await storeDue(3000, 0, null);
  await storeDue(2000, nowMs - 2 * MINUTE_MS, nowMs - 2 * MINUTE_MS);
  const claimed = await claimStalledVaults(DB, { dueBeforeMs: nowMs - MINUTE_MS, nowMs, limit: 100 });
  expect(claimed).toEqual([2000]);
});

test('records that stay due are claimed in turn, and the older they are the less often', async () => {
  await DB.prepare('DELETE FROM transactions').run();
  const nowMs = 100 * HOUR_MS;
  const claim = (atMs: number) => claimStalledVaults(DB, { dueBeforeMs: atMs - MINUTE_MS, nowMs: atMs, limit: 2 });
  for (const [vaultId, ageMs] of [
    [1, 50 * HOUR_MS],
    [2, 2 * HOUR_MS],
    [3, 5 * MINUTE_MS],
  ] as const) {
    await storeDue(vaultId, nowMs - ageMs, nowMs - ageMs);
  }
  expect(await claim(nowMs)).toEqual([1, 2]);
  expect(await claim(nowMs)).toEqual([3]);
  expect(await claim(nowMs)).toEqual([]);
  expect(await claim(nowMs + 2 * MINUTE_MS)).toEqual([3]);
  expect(await claim(nowMs + 15 * MINUTE_MS)).toEqual(expect.arrayContaining([2, 3]));
  await claim(nowMs + 62 * MINUTE_MS);
  expect(await claim(nowMs + 62 * MINUTE_MS)).toEqual([1]);
  // A new version of the record is due by itself.
  const id = `1.${'1'.padStart(26, '0')}`;
  const newer = { ...row(2, 'BROADCAST'), id, vaultId: 1, updatedAtMs: nowMs, dueAtMs: nowMs };
  await project(DB, { records: [newer], lines: [], deleted: [] });
  expect(await claim(nowMs + 64 * MINUTE_MS)).toContain(1);
});

function bytesIn(text: string): number {
  return new TextEncoder().encode(text).length;
}
