import { afterEach, expect, test, vi } from 'vitest';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { listDeadLetters } from '#store/operations/dead-letters.ts';
import { allocateVault, claimVaultsToWake } from '#store/vaults.ts';
import { consumed } from '../worker/queue-batch.ts';
import { call, coordinator, created, foundTreasury, WITHOUT_NODES } from '../http/scene.worker.ts';

/**
 * Covers the queue consumers with late, repeated and invalid messages. The co-signers are
 * unreachable in these tests.
 */

afterEach(() => {
  vi.useRealTimers();
});

async function approvedTransfer() {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  for (const { token } of [treasury.alice, treasury.bob])
    await call(`POST /transaction/${body['id']}/approve`, { token });
  const read = async () => (await call(`GET /transaction/${body['id']}`, { token: treasury.victor.token })).body;
  return { treasury, id: String(body['id']), read };
}

test('a message of an unknown form is stored as a dead letter, with a log line', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const nonsense = [
    null,
    'sign',
    {},
    { vaultId: 1 },
    { vaultId: '1', transactionId: null, job: 'sign' },
    { vaultId: 1, transactionId: null, job: 'steal' },
  ];
  expect(await consumed('conclave-signing', nonsense)).toEqual({ acked: nonsense.length, retried: 0 });
  expect(said.mock.calls.length).toBe(nonsense.length);
  said.mockRestore();
});

test('a job about a missing transaction does nothing', async () => {
  const jobs = ['sign', 'broadcast', 'confirm', 'settle'].map((job) => ({
    vaultId: 424_242,
    transactionId: '424242.01J00000000000000000000000',
    job,
  }));
  expect(await consumed('conclave-signing', jobs)).toEqual({ acked: 4, retried: 0 });
});

test('a transaction waits with a reason while its chain has no RPC node, and a repeated message changes nothing', async () => {
  const { treasury, id, read } = await approvedTransfer();
  const message = { vaultId: treasury.id, transactionId: id, job: 'sign' };
  const env = WITHOUT_NODES;
  expect(await consumed('conclave-signing', [message], { env })).toEqual({ acked: 1, retried: 0 });
  const first = await read();
  expect([first['state'], first['stateReason'], first['txHash']]).toEqual(['SIGNING', 'CHAIN_NOT_CONFIGURED', null]);
  await consumed('conclave-signing', [message, message], { env });
  expect(await read()).toEqual(first);
});

test('a payment fails a day after its expiry if it was not signed, and not a millisecond before', async () => {
  const { treasury, id, read } = await approvedTransfer();
  const { expiresAt } = await read();
  const message = { vaultId: treasury.id, transactionId: id, job: 'sign' };
  const endMs = Date.parse(String(expiresAt)) + (24 * 60 + 10) * 60 * 1000;
  vi.useFakeTimers({ toFake: ['Date'], now: endMs - 1 });
  await consumed('conclave-signing', [message], { env: WITHOUT_NODES });
  expect((await read())['state']).toBe('SIGNING');
  vi.setSystemTime(endMs);
  await consumed('conclave-signing', [message], { env: WITHOUT_NODES });
  const failed = await read();
  expect([failed['state'], failed['stateReason'], failed['txHash']]).toEqual(['FAILED', 'SIGNING_TIMEOUT', null]);
});

test('an expired payment with others above its nonce is filled for as long as necessary', async () => {
  const { treasury, id, read } = await approvedTransfer();
  const { expiresAt, from } = await read();
  const allocator = coordinator.WALLET_NONCE.getByName(`nonce:eip155:31337:${String(from)}`);
  for (const transactionId of [id, 'above']) await allocator.allocate({ transactionId, latest: '0', pending: '0' });
  const endMs = Date.parse(String(expiresAt)) + (24 * 60 + 10) * 60 * 1000;
  const message = { vaultId: treasury.id, transactionId: id, job: 'sign' };
  // Co-signers sign a cancellation for 30 days, and only they end this period. The clock of the
  // coordinator does not.
  for (const [days, reason] of [
    [0, 'SIGNING_TIMEOUT'],
    [1, 'CHAIN_NOT_CONFIGURED'],
    [31, 'CHAIN_NOT_CONFIGURED'],
  ] as const) {
    vi.useFakeTimers({ toFake: ['Date'], now: endMs + days * 24 * 60 * 60 * 1000 });
    await consumed('conclave-signing', [message], { env: WITHOUT_NODES });
    const { state, stateReason } = await read();
    expect([state, stateReason]).toEqual(['SIGNING', reason]);
  }
  // Meanwhile the payment keeps its nonce.
  expect(await allocator.blocker({ transactionId: 'above', latest: '0', pending: '0' })).toEqual({ transactionId: id });
});

test('a job that is early or late for its transaction changes nothing', async () => {
  const { treasury, id, read } = await approvedTransfer();
  const before = await read();
  const jobs = ['broadcast', 'confirm', 'settle'].map((job) => ({ vaultId: treasury.id, transactionId: id, job }));
  await consumed('conclave-confirmation', jobs);
  expect(await read()).toEqual(before);
});

test('a message that fails is retried, and the other messages of its batch are acknowledged', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { treasury, id } = await approvedTransfer();
  const broken = { ...coordinator, RPC_URLS: 'not json' };
  const good = { vaultId: 424_242, transactionId: '424242.01J00000000000000000000000', job: 'sign' };
  const bad = { vaultId: treasury.id, transactionId: id, job: 'sign' };
  expect(await consumed('conclave-signing', [bad, good], { env: broken })).toEqual({ acked: 1, retried: 1 });
  expect(JSON.stringify(said.mock.calls)).toContain('job-failed');
  said.mockRestore();
});

test('a dead letter is stored once, however often it is delivered', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const letter = { vaultId: 7, transactionId: null, job: 'generate-key' };
  expect(await consumed('conclave-signing-dead', [letter])).toEqual({ acked: 1, retried: 0 });
  await consumed('conclave-signing-dead', [letter]);
  const kept = await listDeadLetters(coordinator.DB, 100);
  expect(kept.filter(({ id }) => id === 'conclave-signing-dead-0').length).toBe(1);
  said.mockRestore();
});

test('the cron run claims every vault in turn, up to two hundred with each query', async () => {
  for (let i = 0; i < 250; i++) {
    await allocateVault(coordinator.DB, { name: 'quiet', reference: `quiet-${i}`, createdAtMs: 0 });
  }
  const query = { wokenBeforeMs: 1_000, nowMs: 2_000, limit: 200 };
  const first = await claimVaultsToWake(coordinator.DB, query);
  const second = await claimVaultsToWake(coordinator.DB, query);
  expect(first.length).toBe(200);
  expect(second.length).toBeGreaterThanOrEqual(50);
  expect(first.some((id) => second.includes(id))).toBe(false);
  expect(await claimVaultsToWake(coordinator.DB, query)).toEqual([]);
});

test('one cron run wakes eight hundred vaults, twenty at a time, within the call limit of an invocation', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO vaults (id, name, reference, created_at_ms, nudged_at_ms) SELECT 500000 + i, 'many', 'many-' || i, 0, -1 FROM n`;
  await coordinator.DB.prepare(many).run();
  const woken: string[] = [];
  let [request, atOnce, mostAtOnce] = [0, 0, 0];
  const wake = async (name: string) => {
    woken.push(name);
    request += 1;
    mostAtOnce = Math.max(mostAtOnce, ++atOnce);
    await scheduler.wait(1);
    atOnce -= 1;
    // A vault that cannot be woken does not prevent the others from being woken.
    if (woken.length % 100 === 7) throw new Error('away');
    return { bytes: 1, fundedChains: [], passkeyOrigins: [] };
  };
  const VAULT = { getByName: (name: string) => ({ wake: () => wake(name) }) };
  const prepare = (query: string) => {
    request += 1;
    return coordinator.DB.prepare(query);
  };
  const batch: D1Database['batch'] = (statements) => coordinator.DB.batch(statements);
  const env = { ...coordinator, VAULT, DB: { prepare, batch } } as unknown as CoordinatorEnv;
  // At each quarter of an hour the run also raises the alerts.
  const nowMs = Math.floor(Date.now() / 900_000) * 900_000;
  await sweep(env, { nowMs, settingFaults: [], fingerprints: [] });
  expect([new Set(woken).size, mostAtOnce]).toEqual([woken.length, 20]);
  expect(woken.length).toBeGreaterThanOrEqual(800);
  expect(request).toBeLessThan(950);
  const first = woken.splice(0);
  await sweep(env, { nowMs, settingFaults: [], fingerprints: [] });
  const isNew = (name: string) => /:500\d{3}$|:501000$/.test(name) && !first.includes(name);
  expect(woken.filter(isNew).length + first.filter((name) => /:50[01]\d{3}$/.test(name)).length).toBe(1_000);
  await coordinator.DB.prepare("DELETE FROM vaults WHERE name = 'many'").run();
  said.mockRestore();
});

test('the cron run changes nothing in healthy vaults, and none in vaults that were never created', async () => {
  const { treasury, read } = await approvedTransfer();
  await call(`GET /vault/${treasury.id}/transactions`, { token: treasury.victor.token });
  const before = await read();
  await sweep(WITHOUT_NODES, { nowMs: Date.now() + 24 * 60 * 60 * 1000, settingFaults: [], fingerprints: [] });
  expect(await read()).toEqual(before);
});
