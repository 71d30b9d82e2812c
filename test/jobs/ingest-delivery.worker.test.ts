import { afterEach, expect, test, vi } from 'vitest';
import { sweep } from '#jobs/sweep.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { insertDelivery, reopenDeliveries } from '#store/deliveries.ts';
import { consumed as consumedOf } from '../worker/queue-batch.ts';
import { asService, coordinator, WITHOUT_NODES } from '../http/scene.worker.ts';

/**
 * Covers deliveries, in any order and number of queue messages. These tests have no RPC node, or
 * one that they stub. test/e2e has a real one.
 */

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const HOUR_MS = 60 * 60 * 1000;
const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
let last = 0;

/** Stores an Alchemy delivery about `count` transactions. No queue has a message about it yet. */
async function kept(count: number, receivedAtMs = Date.now(), endpointId = 'of-the-tests'): Promise<string> {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  last += 1;
  const activity = Array.from({ length: count }, (_, i) => ({ hash: hash(last * 10_000 + i) }));
  const body = JSON.stringify({ event: { network: 'ETH_MAINNET', activity } });
  const id = `delivery-${last}`;
  const delivery = { id, provider: 'alchemy', endpointId, body, receivedAtMs, hints: count };
  await insertDelivery(coordinator.DB, delivery);
  return id;
}

const consumed = (bodies: readonly unknown[], env: CoordinatorEnv = WITHOUT_NODES) =>
  consumedOf('conclave-activity', bodies, { env });

/** Returns an environment whose queue records the messages and sends none. */
function withQueue() {
  const sent: string[] = [];
  const send = async ({ deliveryId }: { readonly deliveryId: string }) => void sent.push(deliveryId);
  const sendBatch = async (all: readonly { readonly body: { readonly deliveryId: string } }[]) => {
    for (const { body } of all) await send(body);
  };
  return { sent, env: { ...WITHOUT_NODES, ACTIVITY_QUEUE: { send, sendBatch } } as unknown as CoordinatorEnv };
}

const row = (id: string) =>
  coordinator.DB.prepare('SELECT state, tries, due_at_ms AS dueAtMs, outcome FROM deliveries WHERE id = ?')
    .bind(id)
    .first<{ state: string; tries: number; dueAtMs: number; outcome: string | null }>();

test('a delivery is processed once, however often its message arrives', async () => {
  const id = await kept(2);
  expect(await consumed([{ deliveryId: id }, { deliveryId: id }])).toEqual({ acked: 2, retried: 0 });
  const done = await row(id);
  expect([done?.state, done?.outcome]).toEqual(['done', '{"unknown-chain":2}']);
  await consumed([{ deliveryId: id }]);
  expect(await row(id)).toEqual(done);
});

test('a message about a missing delivery, and an invalid message, have no effect', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  expect(await consumed([{ deliveryId: 'nowhere' }, {}, null, { deliveryId: 7 }])).toEqual({ acked: 4, retried: 0 });
  expect(said).toHaveBeenCalledTimes(3);
  said.mockRestore();
});

test('a long delivery is split into parts, and no part is lost when it is split twice', async () => {
  const id = await kept(60);
  const { sent, env } = withQueue();
  await consumed([{ deliveryId: id }], env);
  expect([(await row(id))?.state, (await row(id))?.outcome]).toEqual(['done', '{"parts":3}']);
  const parts = [...sent];
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
  expect(parts).toEqual([`${id}.0`, `${id}.25`, `${id}.50`]);
  // As after a crash before the last write, the parts may be sent again, or may be complete
  // already.
  await coordinator.DB.prepare("UPDATE deliveries SET state = 'open' WHERE id = ?").bind(id).run();
  await consumed([{ deliveryId: id }, ...parts.map((deliveryId) => ({ deliveryId }))], env);
  const outcomes = await Promise.all(parts.map(async (part) => (await row(part))?.outcome));
  expect(outcomes).toEqual(['{"unknown-chain":25}', '{"unknown-chain":25}', '{"unknown-chain":10}']);
});

/** Settings with an RPC node that does not answer. */
const UNREACHABLE = { RPC_URLS: JSON.stringify({ ethereum: ['https://node.test'] }) };

test('a delivery waits while its chain is unreachable, longer each time, and fails after a day', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  vi.stubGlobal('fetch', async () => {
    throw new Error('the node is away');
  });
  const id = await kept(1);
  const { sent, env } = withQueue();
  const unreachable = { ...env, ...UNREACHABLE };
  const message = { deliveryId: id, dueAtMs: (await row(id))?.dueAtMs };
  await consumed([message], unreachable);
  const first = await row(id);
  // A message that is repeated reads nothing, however late it comes.
  for (const waitMs of [-1_000, 0, HOUR_MS]) {
    vi.useFakeTimers({ toFake: ['Date'], now: (first?.dueAtMs ?? 0) + waitMs });
    await consumed([message], unreachable);
    expect(await row(id)).toEqual(first);
  }
  // The clock of the consumer is behind the clock of the sender.
  vi.setSystemTime((first?.dueAtMs ?? 0) - 60_000);
  await consumed([{ deliveryId: id, dueAtMs: first?.dueAtMs }], unreachable);
  vi.setSystemTime(first?.dueAtMs ?? 0);
  expect((await row(id))?.tries).toBe(2);
  await coordinator.DB.prepare('UPDATE deliveries SET tries = 1, due_at_ms = ? WHERE id = ?')
    .bind(first?.dueAtMs, id)
    .run();
  await consumed([{ deliveryId: id }], unreachable);
  const second = await row(id);
  expect([first?.state, first?.tries, second?.tries, first?.outcome]).toEqual(['open', 1, 2, '{"away":1}']);
  expect((second?.dueAtMs ?? 0) - (first?.dueAtMs ?? 0)).toBeGreaterThan(1_000);
  expect(sent).toEqual([id, id, id]);
  vi.setSystemTime(Date.now() + 24 * HOUR_MS);
  await consumed([{ deliveryId: id }], unreachable);
  expect((await row(id))?.state).toBe('failed');
  said.mockRestore();
});

/** Answers as a healthy RPC node that has none of the requested data. */
async function emptyCosigner(_url: unknown, { body }: { readonly body: string }): Promise<Response> {
  const { id, method } = JSON.parse(body) as { readonly id: number; readonly method: string };
  const head = { number: '0x10', hash: hash(1), baseFeePerGas: '0x1' };
  const reported: Readonly<Record<string, unknown>> = { eth_chainId: '0x1', eth_getBlockByNumber: head };
  return Response.json({ jsonrpc: '2.0', id, result: reported[method] ?? null });
}

test('a transaction that an RPC node lacks is requested once more if the node was unreachable before', async () => {
  const id = await kept(1, Date.now() - HOUR_MS);
  const { env } = withQueue();
  const once = async (cosigner: typeof emptyCosigner) => {
    vi.stubGlobal('fetch', cosigner);
    vi.useFakeTimers({ toFake: ['Date'], now: Math.max(Date.now(), (await row(id))?.dueAtMs ?? 0) });
    await consumed([{ deliveryId: id }], { ...env, ...UNREACHABLE });
    const { state, outcome } = (await row(id)) ?? {};
    return [state, outcome];
  };
  const unreachable = () => Promise.reject(new Error('the node is away'));
  expect(await once(unreachable)).toEqual(['open', '{"away":1}']);
  expect(await once(emptyCosigner)).toEqual(['open', '{"missing":1}']);
  expect(((await row(id))?.dueAtMs ?? 0) - Date.now()).toBeGreaterThan(9 * 60_000);
  expect(await once(emptyCosigner)).toEqual(['done', '{"none":1}']);
});

test('the sweep sends open deliveries whose message was lost, and removes those finished a month ago', async () => {
  const [lost, fresh, old] = [
    await kept(1, Date.now() - HOUR_MS, 'lost'),
    await kept(1),
    await kept(1, Date.now() - 31 * 24 * HOUR_MS, 'old'),
  ];
  await consumed([{ deliveryId: old }]);
  expect((await row(old))?.state).toBe('done');
  const { sent, env } = withQueue();
  await sweep(env, { nowMs: Date.now(), settingFaults: [], fingerprints: [] });
  expect([sent.includes(lost), sent.includes(fresh), await row(old)]).toEqual([true, false, null]);
  // The message of this delivery is in flight, so the next run does not send it again.
  await sweep(env, { nowMs: Date.now(), settingFaults: [], fingerprints: [] });
  expect(sent.filter((id) => id === lost)).toHaveLength(1);
});

/** Stores a delivery of another form. */
async function keptBody(body: unknown, { endpointId = 'of-the-tests', receivedAtMs = Date.now() } = {}) {
  await asService('GET /internal/vault/1');
  last += 1;
  const id = `delivery-${last}`;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  await insertDelivery(coordinator.DB, { id, provider: 'alchemy', endpointId, body: text, receivedAtMs, hints: 1 });
  return id;
}

const SIGNATURE = '3XWwuL6LJ1dN8xPTPzR9Zq36bi3NdCD8sPzgZTt8VdbKYGcGZ8DHCw6pPaWpegUnWRrY4qJyARv31APPXy8ixsoL';
const MAINNET = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';

/** Answers as an RPC node of Solana with one transaction in a block. */
function solanaNode(err: unknown, transaction: object) {
  return async (_url: unknown, { body }: { readonly body: string }): Promise<Response> => {
    const { id, method } = JSON.parse(body) as { readonly id: number; readonly method: string };
    const status = { slot: 7, err, confirmationStatus: 'finalized' };
    const results: Readonly<Record<string, unknown>> = {
      getGenesisHash: MAINNET,
      getSlot: 9,
      getSignatureStatuses: { context: { slot: 9 }, value: [status] },
      getBlock: { blockhash: MAINNET },
    };
    const answer = method === 'getTransaction' ? transaction : { result: results[method] ?? null };
    return Response.json({ jsonrpc: '2.0', id, ...answer });
  };
}

const FAILED = {
  slot: 7,
  meta: { err: 'AccountInUse', fee: 5000, preBalances: [9000], postBalances: [4000] },
  transaction: { message: { accountKeys: [MAINNET] } },
};
const LATER_VERSION = { code: -32015, message: 'Transaction version (2) is not supported by the requesting client.' };

test.each([
  ['failed', { result: FAILED }, '{"none":1}', []],
  ['cannot be read', { error: LATER_VERSION }, '{"unread":1}', ['transaction-unread']],
])('a hint ends at once when its transaction %s', async (_name, transaction, outcome, events) => {
  const logged: string[] = [];
  const log = vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line));
  vi.stubGlobal('fetch', solanaNode('result' in transaction ? 'AccountInUse' : null, transaction));
  const event = { network: 'SOLANA_MAINNET', transaction: [{ signature: SIGNATURE }] };
  const id = await keptBody({ type: 'ADDRESS_ACTIVITY', event });
  const RPC_URLS = JSON.stringify({ solana: ['https://node.test'] });
  await consumed([{ deliveryId: id }], { ...withQueue().env, RPC_URLS });
  const { state, tries, outcome: stored } = (await row(id)) ?? {};
  expect([state, tries, stored]).toEqual(['done', 1, outcome]);
  expect(logged.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(events);
  log.mockRestore();
});

const SECRET_TEXT = 'a text that no log has';
const UNKNOWN = { type: 'GAS_PRICE', event: { network: 'ETH_MAINNET', note: SECRET_TEXT } };

/** Processes deliveries, and returns the lines of the log about unread ones. */
async function unreadLines(ids: readonly string[], env: CoordinatorEnv = WITHOUT_NODES) {
  const logged: string[] = [];
  const log = vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line));
  for (const deliveryId of ids) await consumed([{ deliveryId }, { deliveryId }], env);
  log.mockRestore();
  expect(logged.join()).not.toContain(SECRET_TEXT);
  return logged.filter((line) => line.includes('monitor-unread')).map((line) => JSON.parse(line) as object);
}

const endpointStatus = async (id: string) => {
  const { body } = await asService('GET /internal/status');
  const monitors = body['monitors'] as readonly { readonly endpointId: string }[];
  const codes = (body['attention'] as readonly { readonly code: string }[]).map(({ code }) => code);
  return { endpoint: monitors.find(({ endpointId }) => endpointId === id), isAlert: codes.includes('monitor-unread') };
};

test('an authentic delivery that is not understood is logged once, with its kind and without its body', async () => {
  const id = await keptBody(UNKNOWN);
  const line = { event: 'monitor-unread', endpointId: 'of-the-tests', provider: 'alchemy' };
  expect(await unreadLines([id])).toEqual([{ ...line, kind: 'GAS_PRICE ETH_MAINNET' }]);
  expect(await row(id)).toMatchObject({ state: 'done', outcome: '{"unread":1}' });
  expect(await unreadLines([await keptBody('{ no JSON')])).toEqual([{ ...line, kind: 'null' }]);
  const nothing = { type: 'ADDRESS_ACTIVITY', event: { network: 'ETH_MAINNET', activity: [] } };
  expect(await unreadLines([await keptBody(nothing)], WITHOUT_NODES)).toEqual([]);
});

test('a delivery about a chain without an RPC node is logged, because it can never have an effect', async () => {
  const [id, long] = [await kept(1), await kept(60)];
  const lines = await unreadLines([id, long, `${long}.0`, `${long}.25`]);
  expect(lines).toMatchObject([{ kind: 'unknown-chain eip155:1' }, { kind: 'unknown-chain eip155:1' }]);
  vi.stubGlobal('fetch', () => Promise.reject(new Error('the node is away')));
  expect(await unreadLines([await kept(1)], { ...withQueue().env, ...UNREACHABLE })).toEqual([]);
});

test('the status has the last delivery of each endpoint and its unread ones, and the third in a day is an alert', async () => {
  await coordinator.DB.prepare('DELETE FROM monitor_endpoints').run();
  expect((await endpointStatus('of-the-tests')).endpoint).toMatchObject({ lastDeliveryAt: null, unread: 0 });
  const endpointId = 'counted';
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  const ids: string[] = [];
  for (const hoursAgo of [30, 20, 10]) {
    ids.push(await keptBody({ ...UNKNOWN, hoursAgo }, { endpointId, receivedAtMs: nowMs - hoursAgo * HOUR_MS }));
  }
  expect(await unreadLines(ids)).toHaveLength(3);
  const [, , at] = [30, 20, 10].map((hours) => new Date(nowMs - hours * HOUR_MS).toISOString());
  const counts = { unread: 3, lastUnreadAt: at, lastUnreadKind: 'GAS_PRICE ETH_MAINNET' };
  expect(await endpointStatus(endpointId)).toEqual({
    endpoint: { endpointId, provider: null, lastDeliveryAt: at, ...counts },
    isAlert: false,
  });
  const mined = { type: 'MINED_TRANSACTION', event: { network: 'ETH_MAINNET', transaction: { hash: hash(7) } } };
  vi.stubGlobal('fetch', emptyCosigner);
  const env = { ...withQueue().env, ...UNREACHABLE };
  const understood = await keptBody(mined, { endpointId, receivedAtMs: nowMs - HOUR_MS });
  expect(await unreadLines([understood], env)).toEqual([]);
  vi.unstubAllGlobals();
  const later = new Date(nowMs - HOUR_MS).toISOString();
  expect((await endpointStatus(endpointId)).endpoint).toEqual({
    endpointId,
    provider: null,
    lastDeliveryAt: later,
    ...counts,
  });
  await unreadLines([await keptBody(UNKNOWN, { endpointId, receivedAtMs: nowMs })]);
  const { endpoint, isAlert } = await endpointStatus(endpointId);
  expect([endpoint, isAlert]).toMatchObject([{ unread: 4, lastUnreadAt: new Date(nowMs).toISOString() }, true]);
});

const dueOf = async (id: string) => (await row(id))?.dueAtMs ?? 0;
const DELIVERY = { provider: 'alchemy', body: '{}' };

test('an endpoint above its budget waits, another one does not, and a repetition costs nothing', async () => {
  const nowMs = Date.now();
  const insert = (id: string, endpointId: string) =>
    insertDelivery(coordinator.DB, { ...DELIVERY, id, endpointId, receivedAtMs: nowMs, hints: 25 });
  await asService('GET /internal/vault/1');
  for (let i = 0; i < 12; i++) expect(await insert(`busy-${i}`, 'busy')).toEqual({ state: 'open', dueAtMs: nowMs });
  for (let i = 0; i < 5; i++) await insert('busy-1', 'busy');
  expect(await insert('busy-12', 'busy')).toEqual({ state: 'open', dueAtMs: nowMs });
  expect(await insert('busy-13', 'busy')).toEqual({ state: 'open', dueAtMs: nowMs + 1_250 });
  expect(await insert('busy-14', 'busy')).toEqual({ state: 'open', dueAtMs: nowMs + 2_500 });
  expect(await insert('busy-14', 'busy')).toEqual({ state: 'open', dueAtMs: nowMs + 2_500 });
  expect(await insert('quiet-1', 'quiet')).toEqual({ state: 'open', dueAtMs: nowMs });
});

test('the parts of a long delivery are read one by one, and delay no further delivery', async () => {
  const nowMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
  const id = await kept(100, nowMs, 'long');
  const { sent, env } = withQueue();
  await consumed([{ deliveryId: id }, { deliveryId: id }], env);
  const parts = ['0', '25', '50', '75'].map((start) => `${id}.${start}`);
  expect(sent).toEqual(parts);
  const waits = await Promise.all(parts.map(async (part) => (await dueOf(part)) - nowMs));
  expect(waits).toEqual([0, 0, 2_500, 5_000]);
  expect((await dueOf(await kept(1, nowMs, 'long'))) - nowMs).toBe(0);
});

test('a part that no RPC node knows is read again after the other parts, without what was found', async () => {
  const nowMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
  const id = await kept(100, nowMs, 'unknown');
  const { env } = withQueue();
  await consumed([{ deliveryId: id }], env);
  vi.stubGlobal('fetch', emptyCosigner);
  await consumed([{ deliveryId: `${id}.0` }], { ...env, ...UNREACHABLE });
  expect(await row(`${id}.0`)).toMatchObject({ state: 'open', outcome: '{"missing":25}' });
  expect((await dueOf(`${id}.0`)) - nowMs).toBe(7_500);
  // A short delivery that is missed has its own budget, and is read again soon.
  const short = await kept(1, nowMs, 'unknown');
  await consumed([{ deliveryId: short }], { ...env, ...UNREACHABLE });
  expect((await dueOf(short)) - nowMs).toBe(2_000);
});

test('failed deliveries are opened again in the budget for long ones, and never beyond it', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const nowMs = Date.now() + 48 * HOUR_MS;
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs });
  const fail = async (endpointId: string, count: number) => {
    const ids = await Promise.all(Array.from({ length: count }, () => kept(1, nowMs - HOUR_MS, endpointId)));
    const failed = "UPDATE deliveries SET state = 'failed', tries = 9 WHERE id = ?";
    await coordinator.DB.batch(ids.map((id) => coordinator.DB.prepare(failed).bind(id)));
    return ids;
  };
  await coordinator.DB.prepare("DELETE FROM deliveries WHERE state = 'failed'").run();
  await fail('failing', 130);
  const waits = async () => (await reopenDeliveries(coordinator.DB, nowMs)).map(({ dueAtMs }) => dueAtMs - nowMs);
  const inTurn = (count: number, from: number) => Array.from({ length: count }, (_, i) => (from + i) * 2_500);
  const byTime = (a: number, b: number) => a - b;
  expect((await waits()).toSorted(byTime)).toEqual(inTurn(100, 0));
  expect((await waits()).toSorted(byTime)).toEqual(inTurn(30, 100));
  expect(await waits()).toEqual([]);
  // The lane is occupied for 325 s, so 130 more fit. Then this endpoint reopens none.
  await fail('failing', 130);
  expect(await waits()).toHaveLength(100);
  expect(await waits()).toHaveLength(30);
  await fail('failing', 10);
  const [other = ''] = await fail('other', 1);
  expect(await reopenDeliveries(coordinator.DB, nowMs)).toEqual([{ id: other, dueAtMs: nowMs }]);
  // A delivery that comes meanwhile is read at once.
  expect(await dueOf(await kept(1, nowMs, 'failing'))).toBe(nowMs);
  // A reopened delivery is read, and each further try uses the same lane.
  const { env } = withQueue();
  vi.stubGlobal('fetch', emptyCosigner);
  await consumed([{ deliveryId: other, dueAtMs: nowMs }], { ...env, ...UNREACHABLE });
  expect(await row(other)).toMatchObject({ state: 'open', tries: 1, outcome: '{"missing":1}' });
  expect((await dueOf(other)) - nowMs).toBe(2_500);
  said.mockRestore();
});

test('a reopened delivery does not count as unread again', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  await asService('GET /internal/vault/1');
  const id = 'unread-and-reopened';
  const body = '{"type":"SOMETHING_NEW"}';
  const delivery = { id, provider: 'alchemy', endpointId: 'unread', body, receivedAtMs: Date.now(), hints: 0 };
  await insertDelivery(coordinator.DB, delivery);
  await coordinator.DB.prepare("UPDATE deliveries SET state = 'failed' WHERE id = ?").bind(id).run();
  expect(await reopenDeliveries(coordinator.DB, Date.now())).toMatchObject([{ id }]);
  await consumed([{ deliveryId: id }]);
  expect([await row(id), said.mock.calls]).toMatchObject([{ outcome: '{"unread":1}' }, []]);
  said.mockRestore();
});
