import { afterEach, expect, test, vi } from 'vitest';
import type { SettingFault } from '#domain/operations/setting-fault.ts';
import type { SweepStep } from '#jobs/sweep.ts';
import { sweep } from '#jobs/sweep.ts';
import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { asService, coordinator } from '../http/scene.worker.ts';

/** Covers that a failing step of the sweep stops no other step, and is an alert. */

const DAY_MS = 24 * 60 * 60 * 1000;
const [STALLED, IN_TURN] = [71, 72];
const STALLED_TRANSACTION =
  "INSERT INTO transactions (id, vault_id, version, state, display_type, chain, direction, visible, created_at_ms, updated_at_ms, watched, due_at_ms, record) VALUES ('stalled', 71, 1, 'SIGNING', 'transfer', 'anvil', 'out', 1, 0, 0, 1, 0, '{}')";
const CREDENTIAL = '0'.repeat(16);
const ACTIVITY = 'tries, due_at_ms';

/** One row for each step that has work in D1. Every age is due. */
const ROWS = [
  STALLED_TRANSACTION,
  "INSERT INTO vaults (id, name, reference, created_at_ms, nudged_at_ms) VALUES (72, 'in turn', 'in-turn', 0, 0)",
  ...['open', 'done'].flatMap((state) => [
    `INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, ${ACTIVITY}) VALUES ('${state}', 'alchemy', 'e', '{}', 0, '${state}', 0, 0)`,
    `INSERT INTO scans (id, vault_id, chain, address, started_at_ms, state, ${ACTIVITY}) VALUES ('${state}', 71, 'anvil', '0x', 0, '${state}', 0, 0)`,
  ]),
  `INSERT INTO sessions (id, user_id, created_at_ms) VALUES ('${CREDENTIAL}', 'alice', 0)`,
  `INSERT INTO access_tokens (id, user_id, created_at_ms, deleted_at_ms) VALUES ('${CREDENTIAL}', 'alice', 0, 0)`,
  "INSERT INTO inbox (user_id, id, version, at_ms, kind, title, body) VALUES ('alice', 'old', 1, 0, 'vault', '', '')",
  "INSERT INTO claims (chain, hash, host, first_at_ms, last_at_ms) VALUES ('anvil', '0x', 'h', 0, 0)",
  "INSERT INTO alerts (id, code, detail, opened_at_ms, seen_at_ms, resolved_at_ms) VALUES ('old', 'late-scans', '', 0, 0, 0)",
  "INSERT INTO dead_letters (id, queue, body, at_ms) VALUES ('old', 'q', '{}', 0)",
  "INSERT INTO tokens (chain, address, read_at_ms) VALUES ('anvil', '0x', 0)",
  "INSERT INTO prices (asset, state, at_ms, asked_at_ms) VALUES ('old', 'unknown', 0, 0)",
];
const WRONG_SETTING: SettingFault = { name: 'LOGIN', fault: 'LOGIN is not valid.' };
/** A queue that takes every message. */
const IGNORED = { send: async () => {} };
const TABLES = [
  'transactions',
  'vaults',
  'deliveries',
  'scans',
  'sessions',
  'access_tokens',
  'inbox',
  'claims',
  'dead_letters',
  'tokens',
  'prices',
  'queue_probes',
  'rpc_nodes',
  'alerts',
  'sweep_runs',
];

afterEach(() => {
  vi.restoreAllMocks();
});

interface Fault {
  /** The statement of D1 that fails. */
  readonly query?: RegExp;
  /** Settings of the coordinator that differ. */
  readonly env?: Partial<CoordinatorEnv>;
  readonly setting?: SettingFault;
  /** Further statements that insert rows. */
  readonly rows?: readonly string[];
}

function databaseWithout(failing: RegExp | undefined): Pick<D1Database, 'prepare' | 'batch'> {
  return {
    prepare: (query) => {
      if (failing?.test(query) === true) throw new Error('D1_ERROR: the statement fails');
      return coordinator.DB.prepare(query);
    },
    batch: (statements) => coordinator.DB.batch(statements),
  };
}

/** Runs a sweep on new rows, by default one that logs alerts. Returns what it has done. */
async function sweptWith(
  { query, env = {}, setting = WRONG_SETTING, rows = [] }: Fault,
  nowMs = 900_000 * Math.ceil((Date.now() + DAY_MS) / 900_000),
) {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  await coordinator.DB.batch(TABLES.map((table) => coordinator.DB.prepare(`DELETE FROM ${table}`)));
  await coordinator.DB.batch([...ROWS, ...rows].map((row) => coordinator.DB.prepare(row)));
  const woken: string[] = [];
  const sent: ActivityMessage[] = [];
  const counted: string[] = [];
  const logged: { event: string; code?: string; step?: string; detail?: string }[] = [];
  const log = (line: string) => void logged.push(JSON.parse(line) as (typeof logged)[number]);
  const spy = vi.spyOn(console, 'error').mockImplementation(log);
  const stubs = {
    VAULT: {
      getByName: (name: string) => ({
        wake: async () => ({ bytes: woken.push(name), fundedChains: [], passkeyOrigins: [] }),
      }),
    },
    SIGNING_QUEUE: IGNORED,
    CONFIRMATION_QUEUE: IGNORED,
    NOTIFICATION_QUEUE: IGNORED,
    ACTIVITY_QUEUE: {
      ...IGNORED,
      sendBatch: async (batch: readonly { readonly body: ActivityMessage }[]) =>
        void sent.push(...batch.map(({ body }) => body)),
    },
    METRICS: { writeDataPoint: ({ blobs }: { blobs: string[] }) => void counted.push(...blobs) },
    DB: databaseWithout(query),
  };
  await sweep({ ...coordinator, ...stubs, ...env } as unknown as CoordinatorEnv, {
    nowMs,
    settingFaults: [setting],
    fingerprints: [],
  }).catch(() => {});
  spy.mockRestore();
  const isGone = async (table: string, condition: string) =>
    (await coordinator.DB.prepare(`SELECT 1 FROM ${table} WHERE ${condition}`).all()).results.length === 0;
  const isAlerted = (alert: string) => logged.some(({ event, code }) => event === 'alert' && code === alert);
  const isDone: Readonly<Record<SweepStep, boolean>> = {
    'wake-stalled-vaults': woken.includes(`vault:${STALLED}`),
    'wake-vaults-in-turn': woken.includes(`vault:${IN_TURN}`),
    'resend-deliveries': sent.some((message) => 'deliveryId' in message && message.deliveryId === 'open'),
    'resend-scans': sent.some((message) => 'scanId' in message && message.scanId === 'open'),
    'prune-deliveries': await isGone('deliveries', "state = 'done'"),
    'prune-scans': await isGone('scans', "state = 'done'"),
    'prune-dead-letters': await isGone('dead_letters', 'true'),
    'prune-prices': await isGone('prices', "asset = 'old'"),
    'prune-tokens': await isGone('tokens', "chain = 'anvil'"),
    'prune-claims': await isGone('claims', 'true'),
    'prune-inbox': await isGone('inbox', 'true'),
    'prune-alerts': await isGone('alerts', "id = 'old'"),
    'prune-sessions': await isGone('sessions', 'true'),
    'prune-access-tokens': await isGone('access_tokens', 'true'),
    'alert-settings': isAlerted('setting-invalid'),
    'probe-queues': !(await isGone('queue_probes', 'true')),
    'probe-rpc-nodes': !(await isGone('rpc_nodes', "chain = 'anvil'")),
    'alert-work': isAlerted('stuck-transactions'),
    'alert-cosigners': isAlerted('cosigner-away'),
    'record-end': !(await isGone('sweep_runs', 'true')),
  };
  const done = Object.entries(isDone).flatMap(([step, seen]) => (seen ? [step] : []));
  const failed = logged.flatMap(({ event, step }) => (event === 'sweep-step-failed' ? [step] : []));
  const alerts = logged
    .filter(({ event, code }) => event === 'alert' && code === 'sweep-step-failed')
    .map(({ detail }) => detail);
  const behind = logged.filter(({ code }) => code === 'sweep-behind').map(({ detail }) => detail);
  const deliveries = sent.filter((message) => 'deliveryId' in message).length;
  return { done, failed, alerts, behind, counted, sent: deliveries, steps: Object.keys(isDone) };
}

const FAULTS: Readonly<Record<SweepStep, Fault>> = {
  'wake-stalled-vaults': { query: /^WITH due AS/ },
  'wake-vaults-in-turn': { query: /^update "vaults"/ },
  'resend-deliveries': { query: /^UPDATE deliveries/ },
  'resend-scans': { query: /^UPDATE scans/ },
  'prune-deliveries': { query: /^DELETE FROM deliveries/ },
  'prune-scans': { query: /^DELETE FROM scans/ },
  'prune-claims': { query: /^DELETE FROM claims/ },
  'prune-inbox': { query: /^DELETE FROM inbox/ },
  'prune-alerts': { query: /^delete from "alerts"/ },
  'prune-sessions': { query: /^DELETE FROM sessions/ },
  'prune-access-tokens': { query: /^DELETE FROM access_tokens/ },
  'prune-dead-letters': { query: /^delete from "dead_letters"/ },
  'prune-prices': { query: /^delete from "prices"/ },
  'prune-tokens': { query: /^delete from "tokens"/ },
  'alert-settings': {
    setting: {
      fault: '',
      get name(): string {
        throw new Error('the setting cannot be read');
      },
    },
  },
  'probe-queues': { query: /^insert into "queue_probes"/ },
  'probe-rpc-nodes': { query: /^DELETE FROM rpc_nodes/ },
  'alert-work': { query: /^select .* from "dead_letters"/ },
  'alert-cosigners': { env: { COSIGNER_URLS: 'not json' } },
  'record-end': { query: /^insert into "sweep_runs"/ },
};

test('the sweep does every step, and raises no alert of its own', async () => {
  const { done, failed, alerts, steps } = await sweptWith({});
  expect([done, failed, alerts]).toEqual([steps, [], []]);
});

test.each(Object.entries(FAULTS))('the sweep does every other step when %s fails', async (step, fault) => {
  const { done, failed, alerts, counted, steps } = await sweptWith(fault);
  expect(done).toEqual(steps.filter((other) => other !== step));
  expect([failed, alerts]).toEqual([[step], [`Steps of the sweep that failed: ${step}.`]]);
  expect(counted).toContain('sweep-step-failed');
});

test('one alert names all steps that failed, in any minute, while the vaults of a failing D1 cannot be found', async () => {
  const quarterMs = 900_000 * Math.ceil((Date.now() + DAY_MS) / 900_000);
  const { done, failed, alerts, steps } = await sweptWith({ query: /./ }, quarterMs);
  // The alerts that need no row of D1 are in the log, and cannot be stored.
  expect(done).toEqual(['alert-settings', 'alert-cosigners']);
  expect(failed).toEqual(steps);
  expect(alerts).toEqual([`Steps of the sweep that failed: ${failed.join(', ')}.`]);
  expect((await sweptWith({ query: /^DELETE FROM scans/ }, quarterMs + 60_000)).alerts).toEqual([
    'Steps of the sweep that failed: prune-scans.',
  ]);
});

test('lost messages beyond one statement are sent in one run, and what is left is an alert', async () => {
  const deliveries = (count: number) =>
    Array.from({ length: count }, (_, i) => [
      `INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, ${ACTIVITY}) VALUES ('more-${i}', 'alchemy', 'e', '{}', 0, 'open', 0, 0)`,
    ]);
  const some = await sweptWith({ rows: deliveries(450).flat() });
  expect([some.sent, some.behind]).toEqual([451, []]);
  const many = await sweptWith({ rows: deliveries(1_100).flat() });
  expect([many.sent, many.behind]).toEqual([1_000, ['Steps of the sweep that left work: resend-deliveries.']]);
});

test('the check from outside is called at the end of each sweep, whatever failed in it', async () => {
  const calls: string[] = [];
  vi.stubGlobal('fetch', async (url: string | URL | Request) => {
    if (typeof url === 'string' && url.startsWith('https://ping.test')) calls.push(url);
    return new Response(null, { status: 204 });
  });
  const env = { HEARTBEAT_URL: 'https://ping.test/secret' };
  await sweptWith({ env });
  expect(calls).toEqual(['https://ping.test/secret']);
  await sweptWith({ env, query: /./ });
  vi.unstubAllGlobals();
  expect(calls).toHaveLength(2);
});

test('a check that expects a call each minute notices within ten minutes that the cron has stopped', async () => {
  const startMs = 900_000 * Math.ceil((Date.now() + DAY_MS) / 900_000);
  let nowMs = startMs;
  let lastCallMs = 0;
  vi.stubGlobal('fetch', async (url: string | URL | Request) => {
    if (url === 'https://ping.test/secret') lastCallMs = nowMs;
    return new Response(null, { status: 204 });
  });
  /** As the check of a provider with a grace time of five minutes. */
  const isLate = () => nowMs - lastCallMs > 5 * 60_000;
  const alerted: number[] = [];
  for (let minute = 0; minute < 15; minute++) {
    nowMs = startMs + minute * 60_000;
    if (minute < 4) await sweptWith({ env: { HEARTBEAT_URL: 'https://ping.test/secret' } }, nowMs);
    if (isLate()) alerted.push(minute);
  }
  vi.unstubAllGlobals();
  expect(alerted[0]).toBe(9);
});

test('the receiver of alerts gets what a sweep found, and without D1 that the sweep failed', async () => {
  const got: string[] = [];
  vi.stubGlobal('fetch', async (url: string | URL | Request, init?: RequestInit) => {
    if (url !== 'https://chat.test/x' || typeof init?.body !== 'string') return new Response(null, { status: 404 });
    got.push((JSON.parse(init.body) as { text: string }).text.split('*')[1] ?? '');
    return new Response(null, { status: 200 });
  });
  const env = { ALERT_WEBHOOK: JSON.stringify({ form: 'slack', url: 'https://chat.test/x' }) };
  const quarterMs = 900_000 * Math.ceil((Date.now() + DAY_MS) / 900_000);
  await sweptWith({ env }, quarterMs);
  expect(got).toEqual(expect.arrayContaining(['Alert (urgent): setting-invalid', 'Alert (urgent): cosigner-away']));
  got.length = 0;
  await sweptWith({ env, query: /./ }, quarterMs);
  await sweptWith({ env, query: /./ }, quarterMs + 60_000);
  vi.unstubAllGlobals();
  expect(got).toEqual(['Alert (urgent): sweep-step-failed']);
});
