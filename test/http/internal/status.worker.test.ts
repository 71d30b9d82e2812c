import { env } from 'cloudflare:workers';
import { expect, test, vi } from 'vitest';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { exportsOfKeys, storeExport, storeKey, storeRefresh } from '#store/operations/key-exports.ts';
import { asService, call, created, foundTreasury, PATIENCE_MS } from '../scene.worker.ts';

/** Covers the numbers of pending jobs. test/domain/operations/alert.test.ts covers the alerts. */

const coordinator = env as CoordinatorEnv;

test('the status counts the pending jobs and names the longest unchanged transaction, only for the service key', async () => {
  const treasury = await foundTreasury();
  expect((await call('GET /internal/status', { token: treasury.alice.token })).status).toBe(401);
  const { body } = await created(treasury);
  // The transaction waits for approvals, which raises no alert.
  const { body: waiting } = await created(treasury);
  for (const { token } of [treasury.alice, treasury.bob])
    await call(`POST /transaction/${body['id']}/approve`, { token });
  const shown = async () => {
    const answer = await asService('GET /internal/status');
    expect(answer.status).toBe(200);
    return answer.body;
  };
  await vi.waitFor(async () => {
    const { transactions } = await shown();
    expect(transactions.quietest.map(({ id }: { id: string }) => id)).toContain(body['id']);
  }, PATIENCE_MS);
  const { transactions, vaults, deadLetters, deliveries, singleNodeChains } = await shown();
  expect(singleNodeChains).toEqual(['anvil', 'ethereum']);
  expect(transactions.quietest.map(({ id }: { id: string }) => id)).not.toContain(waiting['id']);
  expect(transactions.outstanding['SUBMITTED']).toBeGreaterThanOrEqual(1);
  expect(transactions.outstanding['SIGNING']).toBeGreaterThanOrEqual(1);
  expect(vaults.count).toBeGreaterThanOrEqual(1);
  expect([deadLetters.count, deliveries.failed]).toEqual([expect.any(Number), expect.any(Number)]);
});

test('a query finds rows of every kind by their age', async () => {
  const now = Date.now();
  const { DB } = coordinator;
  const insert = (sql: string, ...values: (string | number)[]) =>
    DB.prepare(sql)
      .bind(...values)
      .run();
  const delivery =
    "INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, tries, due_at_ms) VALUES (?, 'standard-webhooks', 'e', '{}', ?, ?, 0, ?)";
  const hour = 3_600_000;
  await insert(delivery, 'open-1', now - hour, 'open', now - hour);
  await insert(delivery, 'failed-1', now - 2 * hour, 'failed', now);
  const scan =
    "INSERT INTO scans (id, vault_id, chain, address, started_at_ms, state, tries, due_at_ms) VALUES (?, 1, 'eip155:1', '0x', ?, ?, 0, ?)";
  await insert(scan, 'open-1', now - hour, 'open', now - 2 * hour);
  await insert(scan, 'failed-1', now - 2 * hour, 'failed', now);
  await insert("INSERT INTO dead_letters (id, queue, body, at_ms) VALUES ('letter-1', 'q', '{}', ?)", now - hour);
  const { body } = await asService('GET /internal/status');
  expect(body['attention'].map(({ code }: { code: string }) => code)).toEqual(
    expect.arrayContaining(['late-deliveries', 'failed-deliveries', 'late-scans', 'failed-scans', 'dead-letters']),
  );
  const { deliveries, scans, deadLetters } = body;
  expect([deliveries.oldestDueAt, scans.oldestDueAt, deadLetters.newestAt]).toEqual([
    new Date(now - hour).toISOString(),
    new Date(now - 2 * hour).toISOString(),
    new Date(now - hour).toISOString(),
  ]);
  const logged: string[] = [];
  const log = vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line));
  const quarter = 900_000;
  // A sweep raises alerts in the first minute of each quarter of an hour only.
  await sweep(coordinator, { nowMs: Math.ceil(now / quarter) * quarter - 60_000, settingFaults: [], fingerprints: [] });
  expect(logged.filter((line) => line.includes('"alert"'))).toEqual([]);
  await sweep(coordinator, { nowMs: Math.ceil(now / quarter) * quarter, settingFaults: [], fingerprints: [] });
  log.mockRestore();
  const alerts = logged.filter((line) => line.includes('"alert"')).map((line) => JSON.parse(line) as { code: string });
  expect(alerts.map(({ code }) => code)).toEqual(expect.arrayContaining(['dead-letters', 'failed-deliveries']));
});

test('a key is outdated from its beginning and from each refresh until a complete export', async () => {
  const { DB } = coordinator;
  const keyId = 'key-of-exports';
  const key = { vaultId: 4711, keyId };
  const [first] = [{ cosigner: 1, recoveryKey: 'ab'.repeat(32) }];
  const day = 86_400_000;
  const now = Date.now();
  const shown = async () => {
    const { recovery, attention } = (await asService('GET /internal/status')).body;
    const isListed = recovery.longest.some((one: { keyId: string }) => one.keyId === keyId);
    expect(attention.some(({ code }: { code: string }) => code === 'recovery-outdated')).toBe(recovery.outdated > 0);
    return isListed;
  };
  const exported = (startedAtMs: number) => storeExport(DB, { ...key, startedAtMs, recipients: [first] });
  await storeKey(DB, { ...key, nowMs: now - 2 * day });
  await storeKey(DB, { ...key, nowMs: now });
  expect(await shown()).toBe(true);
  await exported(now - day);
  expect(await exportsOfKeys(DB, [keyId])).toEqual([
    { keyId, outdatedSinceMs: null, exportedAtMs: now - day, recipients: [first] },
  ]);
  expect(await shown()).toBe(false);
  // The projection of the vault is repeated, and changes nothing.
  await storeKey(DB, { ...key, nowMs: now - 2 * day });
  expect(await shown()).toBe(false);
  await storeRefresh(DB, { ...key, nowMs: now - day - 60_000 });
  expect(await shown()).toBe(true);
  // An export that began before the end of the refresh may have packages of the epoch before.
  await exported(now - 2 * day);
  expect(await shown()).toBe(true);
  await exported(now);
  expect(await shown()).toBe(false);
  await storeRefresh(DB, { ...key, nowMs: now });
  // There is a day of time for the export.
  expect(await shown()).toBe(false);
});
