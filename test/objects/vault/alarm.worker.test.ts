import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { alice, bob } from '../../domain/cast.ts';
import { approve, coordinator, created, rows, stateOf, vaultWithWallet } from './object-scene.worker.ts';

/** Covers the alarm of a vault whose database, queue or storage fails. */

const DAY_MS = 24 * 60 * 60 * 1000;
let logged: string[] = [];

// The clock of the platform is a day behind, so it never runs an alarm itself.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
  logged = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line));
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const query = (sql: string) => coordinator.DB.prepare(sql).run();

/** Creates a vault whose writes to D1 are refused, as by a full database. */
async function vaultWithoutD1() {
  const scene = await vaultWithWallet();
  const trigger = `full_${scene.id}`;
  const refuse = "BEGIN SELECT RAISE(ABORT, 'the database is full'); END";
  await query(`CREATE TRIGGER ${trigger} BEFORE INSERT ON audit WHEN NEW.vault_id = ${scene.id} ${refuse}`);
  return { ...scene, repair: () => query(`DROP TRIGGER ${trigger}`) };
}

const write = (vault: VaultStub, sql: string) =>
  runInDurableObject(vault, (_object, { storage }) => void storage.sql.exec(sql));
const alarmOf = (vault: VaultStub) => runInDurableObject(vault, (_object, { storage }) => storage.getAlarm());

/** Runs the alarm at its time. Returns the milliseconds until the next one; null for none. */
async function ring(vault: VaultStub): Promise<number | null> {
  const atMs = await alarmOf(vault);
  if (atMs === null) throw new Error('no alarm is set');
  vi.setSystemTime(Math.max(atMs, Date.now()));
  await runDurableObjectAlarm(vault);
  const nextMs = await alarmOf(vault);
  return nextMs === null ? null : nextMs - Date.now();
}

async function delaysOf(vault: VaultStub, count: number): Promise<readonly number[]> {
  const delays: number[] = [];
  for (let time = 0; time < count; time++) delays.push((await ring(vault)) ?? 0);
  return delays;
}

/** Replaces the signing queue of one vault. Returns the jobs that it was given. */
async function replaceQueue(vault: VaultStub, { isUnreachable = false } = {}): Promise<readonly string[]> {
  const sent: string[] = [];
  const sendBatch = async (batch: readonly { readonly body: { readonly job: string } }[]) => {
    if (isUnreachable) throw new Error('the queue is unreachable');
    sent.push(...batch.map(({ body }) => body.job));
  };
  await runInDurableObject(vault, (object) => {
    const inside = object as unknown as { env: object };
    inside.env = { ...inside.env, SIGNING_QUEUE: { sendBatch } };
  });
  return sent;
}

async function approved(vault: VaultStub): Promise<void> {
  const { id } = await created(vault);
  for (const actor of [alice, bob]) expect((await approve(vault, actor, id)).ok).toBe(true);
}

const failures = () => logged.filter((line) => line.includes('"vault-alarm-failed"'));
// Without D1 the alert cannot be stored, which is another line.
const alerts = () => logged.filter((line) => line.includes('"alert","code":"vault-alarm-failing"'));

test('a failing projection is tried again after a growing delay, also when the object was evicted in between', async () => {
  const [one, other] = [await vaultWithoutD1(), await vaultWithoutD1()];
  for (const { vault } of [one, other]) await write(vault, "DELETE FROM outbox WHERE job <> 'project'");
  const delays = await delaysOf(one.vault, 4);
  await evictDurableObject(one.vault);
  const all = [...delays, ...(await delaysOf(one.vault, 6))];
  for (const [i, delayMs] of all.entries()) {
    const leastMs = Math.min(1_000 * 2 ** i, 60_000);
    expect(delayMs).toBeGreaterThanOrEqual(leastMs);
    expect(delayMs).toBeLessThanOrEqual(1.25 * leastMs);
  }
  expect(failures().length).toBe(10);
  expect((await delaysOf(other.vault, 10)).at(-1)).not.toBe(all.at(-1));

  await one.repair();
  expect(await ring(one.vault)).toBeNull();
  expect(await rows(one.vault, 'SELECT job FROM outbox')).toEqual([]);
  const counts = await runInDurableObject(one.vault, (_object, { storage }) => [...storage.kv.list()]);
  expect(counts).toEqual([]);
});

test('an alarm that fails for the fifth time raises an alert, and later ones about four times an hour', async () => {
  const { id, vault } = await vaultWithoutD1();
  await write(vault, "DELETE FROM outbox WHERE job <> 'project'");
  await delaysOf(vault, 4);
  expect(alerts()).toEqual([]);
  await ring(vault);
  expect(alerts().map((line) => JSON.parse(line) as unknown)).toEqual([
    {
      event: 'alert',
      code: 'vault-alarm-failing',
      subject: 'project',
      detail: 'The alarm of a vault failed at the part project: 5 times in a row.',
      vaultId: id,
    },
  ]);
  await delaysOf(vault, 14);
  expect(alerts().length).toBe(1);
  await ring(vault);
  expect(alerts().length).toBe(2);
});

test('jobs are sent at their own times while D1 refuses every write', async () => {
  const { vault } = await vaultWithoutD1();
  await write(vault, 'DELETE FROM outbox');
  await approved(vault);
  await write(vault, "DELETE FROM outbox WHERE job = 'notify'");
  const sent = await replaceQueue(vault);
  const startMs = Date.now();
  const sentAtMs: number[] = [];
  for (let before = 0; Date.now() < startMs + 80_000; before = sent.length) {
    await ring(vault);
    if (sent.length > before) sentAtMs.push(Date.now() - startMs);
  }
  // The delays double from five seconds.
  expect(sentAtMs).toEqual([0, 5_000, 15_000, 35_000, 75_000]);
  // D1 was called at once, six times within 80 seconds, and by the last alarm.
  expect(failures().length).toBe(8);
});

test('a command is sent at once while the projection waits, and causes no further call of D1', async () => {
  const { vault } = await vaultWithoutD1();
  await delaysOf(vault, 8);
  const sent = await replaceQueue(vault);
  const failed = failures().length;
  await approved(vault);
  await vault.wake();
  const beforeMs = Date.now();
  await ring(vault);
  expect([sent, Date.now() - beforeMs, failures().length]).toEqual([['sign'], 0, failed]);
});

test('a queue that is unreachable stops neither the projection nor the other queues, and is an alert', async () => {
  const { id, vault } = await vaultWithWallet();
  await write(vault, 'DELETE FROM outbox');
  await replaceQueue(vault, { isUnreachable: true });
  await approved(vault);
  // The message for the queue that is unreachable comes first.
  await write(vault, `INSERT INTO outbox VALUES ('', 'reconcile', 0, ${Date.now()}, 0)`);
  await write(vault, "UPDATE outbox SET due_at_ms = due_at_ms - 1 WHERE job = 'sign'");
  const confirmations: unknown[] = [];
  await runInDurableObject(vault, (object) => {
    const inside = object as unknown as { env: object };
    const sendBatch = async (batch: readonly unknown[]) => void confirmations.push(...batch);
    inside.env = { ...inside.env, CONFIRMATION_QUEUE: { sendBatch } };
  });
  await ring(vault);
  expect(confirmations.length).toBe(1);
  for (let time = 0; time < 20; time++) await ring(vault);
  const projected = await coordinator.DB.prepare('SELECT state FROM transactions WHERE vault_id = ?').bind(id).all();
  expect(projected.results).toEqual([{ state: 'SIGNING' }]);
  expect(alerts().map((line) => (JSON.parse(line) as { detail: string }).detail)).toEqual([
    'The alarm of a vault failed at the part SIGNING_QUEUE: 5 times in a row.',
  ]);
});

test('a transaction that cannot be ended is tried again later, and stops no other work of the alarm', async () => {
  const { vault } = await vaultWithWallet();
  const [stuck, sound] = [await created(vault), await created(vault)];
  const refuse = "BEGIN SELECT RAISE(ABORT, 'the record is damaged'); END";
  await write(vault, `CREATE TRIGGER damaged BEFORE UPDATE ON tx WHEN NEW.id = '${stuck.id}' ${refuse}`);
  await approved(vault);
  await write(vault, "DELETE FROM outbox WHERE job NOT IN ('expire', 'sign')");
  const sent = await replaceQueue(vault);
  vi.setSystemTime(Date.now() + 3_600_000);
  await ring(vault);
  expect([(await stateOf(vault, sound.id)).state, sent]).toEqual(['EXPIRED', ['sign']]);
  const left = `SELECT tries, due_at_ms - ${Date.now()} AS delay FROM outbox WHERE tx_id = '${stuck.id}'`;
  expect(await rows(vault, left)).toEqual([{ tries: 1, delay: 5_000 }]);
  expect(failures().map((line) => (JSON.parse(line) as { part: string }).part)).toEqual(['expire']);
});

test('work that fails and cannot be postponed is tried again after a growing delay', async () => {
  const { id, vault } = await vaultWithWallet();
  await write(vault, "DELETE FROM outbox WHERE job <> 'project'");
  await write(vault, `INSERT INTO outbox VALUES ('', 'of-a-newer-release', 0, ${Date.now()}, 0)`);
  const delays = await delaysOf(vault, 10);
  expect(delays.at(-1)).toBeGreaterThanOrEqual(60_000);
  expect(delays.at(-1)).toBeLessThanOrEqual(75_000);
  // Expiries and the three queues read the unreadable row. The projection does not need it.
  expect(failures().length).toBe(40);
  const projected = await coordinator.DB.prepare('SELECT 1 FROM vaults WHERE id = ?').bind(id).all();
  expect(projected.results.length).toBe(1);
});
