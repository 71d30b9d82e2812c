import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { AuditRow, ProjectedRow } from '#store/transactions.ts';
import { project } from '#store/transactions.ts';

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
  watched: true,
  record: JSON.stringify({ state }),
});
const line: AuditRow = { vaultId: 7, seq: 1, transactionId: null, atMs: 1, entry: '{}', hash: 'first' };

test('what is told late, or twice, replaces nothing newer in the read model', async () => {
  await project(DB, { records: [row(2, 'SIGNING')], lines: [line] });
  await project(DB, { records: [row(4, 'BROADCAST')], lines: [] });
  await project(DB, { records: [row(3, 'SIGNING')], lines: [{ ...line, hash: 'another' }] });
  await project(DB, { records: [row(4, 'SIGNING')], lines: [] });
  const stored = await DB.prepare('SELECT version, state, record FROM transactions').all();
  expect(stored.results).toEqual([{ version: 4, state: 'BROADCAST', record: '{"state":"BROADCAST"}' }]);
  const lines = await DB.prepare('SELECT hash FROM audit').all();
  expect(lines.results).toEqual([{ hash: 'first' }]);
});
