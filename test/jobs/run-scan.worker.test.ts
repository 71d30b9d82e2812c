import { getAddress } from 'viem/utils';
import { afterEach, expect, test, vi } from 'vitest';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { parseVaultId } from '#domain/id.ts';
import { reconcile } from '#jobs/reconcile.ts';
import { sweep } from '#jobs/sweep.ts';
import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { scanReports } from '#store/scan-reports.ts';
import {
  isScanOpen,
  openScan,
  reopenScans,
  requestRescan,
  requestScan,
  storeHashes,
  updateScan,
} from '#store/scans.ts';
import { consumed as consumedOf } from '../worker/queue-batch.ts';
import { asService, coordinator, RECIPIENT } from '../http/scene.worker.ts';

/**
 * Covers scans whose messages are lost, repeated and late, and whose processes end in between. The
 * RPC node and the vaults are stubs. test/e2e has a chain.
 */

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const HOUR_MS = 60 * 60 * 1000;
const BLOCK = '0x100';
const BLOCKS = { fromBlock: '0', toBlock: '256' };
const COVERAGE = { requested: BLOCKS, tokens: BLOCKS, payments: BLOCKS, untraced: 0 };
const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
const hashesTo = (count: number) => Array.from({ length: count }, (_, i) => hash(i + 1));
let vaults = 900;

interface World {
  readonly env: CoordinatorEnv;
  readonly vaultId: number;
  readonly id: string;
  /** The scans that the queue has messages for. */
  readonly sent: string[];
  /** The hashes that were reported to the vault, in order. */
  readonly recorded: string[];
  readonly story: {
    found: readonly string[];
    isUnreachable: boolean;
    /** The hashes that the node lacks. */
    missing: readonly string[];
    /** The hashes that the vault has before the scan. */
    known: readonly string[];
    /** The hashes that concern another vault, or are omitted. */
    foreign: readonly string[];
    /** Ends the process when this hash is recorded. */
    fatal: string | null;
  };
}

/** Requests a scan of a new vault's wallet. Its queue records the messages and sends none. */
async function requested({ nowMs = Date.now(), found = hashesTo(1) } = {}): Promise<World> {
  // The first request creates the tables of this file.
  await asService('GET /internal/vault/1');
  const vaultId = (vaults += 1);
  const wallet = `0x${vaultId.toString(16).padStart(40, 'a')}`;
  const insert = 'INSERT INTO wallets (chain, address, vault_id, key_id) VALUES (?, ?, ?, ?)';
  await coordinator.DB.prepare(insert).bind('ethereum', getAddress(wallet), vaultId, 'k').run();
  const story: World['story'] = { found, isUnreachable: false, missing: [], known: [], foreign: [], fatal: null };
  const [sent, recorded]: [string[], string[]] = [[], []];
  const report = async (event: { readonly type: string; readonly hash: string }) => {
    if (event.type !== 'recordActivity') return 'none';
    if (event.hash === story.fatal) throw new Error('the process ends here');
    const isRepeated = story.known.includes(event.hash) || recorded.includes(event.hash);
    recorded.push(event.hash);
    return isRepeated ? 'unchanged' : 'recorded';
  };
  const isListed = (one: string) =>
    story.known.includes(one) || (recorded.includes(one) && !story.foreign.includes(one));
  const wake = async () => ({ bytes: 0, fundedChains: [], passkeyOrigins: [] });
  const work = async ({ type, hashes = [] }: { readonly type: string; readonly hashes?: readonly string[] }) =>
    type === 'knownTransactions' ? hashes.filter(isListed) : [];
  const send = async (message: ActivityMessage) => void ('scanId' in message && sent.push(message.scanId));
  const sendBatch = async (all: readonly { readonly body: ActivityMessage }[]) => {
    for (const { body } of all) await send(body);
  };
  vi.stubGlobal('fetch', async (_url: unknown, { body }: { readonly body: string }) => {
    if (story.isUnreachable) throw new Error('the node is away');
    const { id, method, params } = JSON.parse(body);
    const isThere = !story.missing.includes(params[0]);
    const own = { from: RECIPIENT, to: wallet, value: '0x5', gas: '0x5208', input: '0x', blockHash: hash(1) };
    const mined = { blockNumber: BLOCK, blockHash: hash(1), gasUsed: '0x5208', effectiveGasPrice: '0x1' };
    const isFirstShape = method === 'eth_getLogs' && params[0].topics.length === 2;
    const answers: Readonly<Record<string, unknown>> = {
      eth_chainId: '0x1',
      eth_getBlockByNumber: { number: BLOCK, hash: hash(1), baseFeePerGas: '0x1' },
      eth_getLogs: isFirstShape ? story.found.map((transactionHash) => ({ transactionHash })) : [],
      eth_getBalance: '0x0',
      eth_getTransactionCount: '0x0',
      eth_getTransactionByHash: isThere ? { hash: params[0], ...own } : null,
      eth_getTransactionReceipt: isThere ? { transactionHash: params[0], status: '0x1', logs: [], ...mined } : null,
      debug_traceTransaction: { type: 'CALL', ...own },
    };
    return Response.json({ jsonrpc: '2.0', id, result: answers[method] ?? null });
  });
  const env = {
    ...coordinator,
    RPC_URLS: JSON.stringify({ ethereum: ['https://node.test'] }),
    ACTIVITY_QUEUE: { send, sendBatch },
    VAULT: { getByName: () => ({ report, work, wake }) },
  } as unknown as CoordinatorEnv;
  const wallets = [{ chain: 'eip155:1', address: wallet, isReadable: true }];
  const { open } = await requestRescan(env.DB, { vaultId, wallets }, nowMs);
  const [id] = open;
  if (id === undefined) throw new Error('it was requested just now');
  return { env, vaultId, id, sent, recorded, story };
}

const consumed = (env: CoordinatorEnv, ids: readonly string[]) =>
  consumedOf(
    'conclave-activity',
    ids.map((scanId) => ({ scanId })),
    { env },
  );
const row = (id: string) =>
  coordinator.DB.prepare('SELECT state, tries, hashes, outcome FROM scans WHERE id = ?')
    .bind(id)
    .first<{ state: string; tries: number; hashes: string | null; outcome: string | null }>();
const isOpen = (vaultId: number, chain = 'eip155:1') => isScanOpen(coordinator.DB, { vaultId, chain });

test('a scan is open for its vault and chain alone, until all of its rows are recorded', async () => {
  const { env, vaultId, id, sent, recorded } = await requested({ found: hashesTo(60) });
  const other = await requested({ found: hashesTo(60) });
  expect([await isOpen(vaultId), await isOpen(vaultId, 'eip155:10'), await isOpen(vaultId + 1000)]).toEqual([
    true,
    false,
    false,
  ]);
  await consumed(env, [id]);
  expect(sent).toEqual([id, `${id}.1`, `${id}.2`]);
  await consumed(env, [id, `${id}.1`]);
  expect([await isOpen(vaultId), recorded.length]).toEqual([true, 50]);
  await consumed(env, [`${id}.2`]);
  expect([await isOpen(vaultId), await isOpen(other.vaultId)]).toEqual([false, true]);
  expect(recorded.toSorted()).toEqual(hashesTo(60).toSorted());
  expect([(await row(id))?.state, (await row(`${id}.2`))?.outcome]).toEqual(['done', '{"recorded":10}']);
});

test('a transaction that only a scan has found is an alert while no monitor delivers', async () => {
  const codes = async () => {
    const { body } = await asService('GET /internal/status');
    return (body['attention'] as readonly { readonly code: string }[]).map(({ code }) => code);
  };
  const nowMs = Date.now();
  const { env, id } = await requested({ nowMs });
  const delivered = 'INSERT INTO monitor_endpoints (endpoint_id, last_delivery_at_ms, unread) VALUES (?, ?, 0)';
  await env.DB.prepare(delivered)
    .bind('of-the-tests', nowMs - 120_000)
    .run();
  await consumed(env, [id]);
  await consumed(env, [id]);
  expect(await codes()).not.toContain('monitor-silent');
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs + 16 * 60_000 });
  expect(await codes()).toContain('monitor-silent');
  const again = env.DB.prepare('UPDATE monitor_endpoints SET last_delivery_at_ms = ?');
  await again.bind(Math.floor(nowMs / 60_000) * 60_000 + 60_000).run();
  expect(await codes()).not.toContain('monitor-silent');
});

test('a difference is scanned for even when the prices cannot be read afterwards', async () => {
  const { env, vaultId, sent } = await requested();
  const id = parseVaultId(vaultId + 50);
  const chain = findChain(chainsFrom({}), 'ethereum');
  if (id === null || chain === null) throw new Error('both are known');
  const vault = {
    work: async () => [{ chain, address: RECIPIENT, assets: [], hasDiscrepancy: true }],
    report: async () => ({ since: '5' }),
  } as unknown as VaultDoors;
  await expect(reconcile({ ...env, PRICE_SOURCES: 'not json' }, vault, id)).rejects.toThrow();
  expect(await isOpen(id)).toBe(true);
  expect((await openScan(env.DB, sent[0] ?? ''))?.sinceBlock).toBe('5');
});

test('the same request within a minute is the same scan, and is not repeated once it is complete', async () => {
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
  const { env, vaultId, id } = await requested({ nowMs });
  const scan = await openScan(env.DB, id);
  const again = (atMs: number) =>
    requestScan(env.DB, { vaultId, chain: 'eip155:1', address: scan?.address ?? '', sinceBlock: null }, atMs);
  expect(await again(nowMs + 59_999)).toBe(id);
  await consumed(env, [id]);
  await consumed(env, [id, id]);
  expect(await again(nowMs + 59_999)).toBeNull();
  expect(await again(nowMs + 60_000)).not.toBeNull();
});

test('a difference of a balance starts a scan, also after a scan of the same minute', async () => {
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
  const { env, vaultId, id } = await requested({ nowMs });
  const address = (await openScan(env.DB, id))?.address ?? '';
  await consumed(env, [id]);
  await consumed(env, [id, id]);
  const differing = (differsAt: string) =>
    requestScan(env.DB, { vaultId, chain: 'eip155:1', address, sinceBlock: null, differsAt }, nowMs + 1);
  const started = await differing('9');
  expect(started).not.toBeNull();
  expect([await differing('9'), started === id]).toEqual([started, false]);
  expect(await differing('10')).not.toBe(started);
});

test('a scan whose process ends between two hashes continues and loses none', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { env, vaultId, id, recorded, story } = await requested({ found: hashesTo(3) });
  await consumed(env, [id]);
  story.fatal = hash(2);
  expect(await consumed(env, [id])).toEqual({ acked: 0, retried: 1 });
  expect([recorded, await isOpen(vaultId)]).toEqual([[hash(1)], true]);
  story.fatal = null;
  await consumed(env, [id]);
  expect([new Set(recorded), await isOpen(vaultId)]).toEqual([new Set(hashesTo(3)), false]);
  said.mockRestore();
});

test('a second reading of the blocks replaces nothing that the first one has found', async () => {
  const { env, id } = await requested();
  const unread = await openScan(env.DB, id);
  if (unread === null) throw new Error('it was requested just now');
  const nowMs = Date.now();
  const read = (...lists: readonly (readonly string[])[]) => {
    const groups = lists.map((hashes) => ({ hashes, isFresh: true }));
    return storeHashes(env.DB, unread, { groups, coverage: COVERAGE, nowMs });
  };
  await read([hash(1), hash(2)], [hash(3)]);
  await read([hash(9)], [hash(1)], [hash(2)]);
  const stored = await Promise.all([id, `${id}.1`, `${id}.2`].map((one) => openScan(env.DB, one)));
  expect(stored.map((one) => one?.hashes)).toEqual([[hash(1), hash(2)], [hash(3)], undefined]);
});

test('only the hashes that the chain lacks are tried again', async () => {
  const { env, id, recorded, story, sent } = await requested({ found: hashesTo(3) });
  story.missing = [hash(2)];
  await consumed(env, [id]);
  await consumed(env, [id]);
  expect(await row(id)).toEqual({
    state: 'open',
    tries: 1,
    hashes: JSON.stringify([hash(2)]),
    outcome: '{"recorded":2,"missing":1}',
  });
  story.missing = [];
  await consumed(env, [id]);
  expect([sent.length, recorded]).toEqual([2, [hash(1), hash(3), hash(2)]]);
  expect((await row(id))?.state).toBe('done');
});

test('a scan fails after a day without its chain, and continues with its hashes when it is reopened', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { env, vaultId, id, recorded, story } = await requested({ found: hashesTo(2) });
  await consumed(env, [id]);
  story.isUnreachable = true;
  await consumed(env, [id]);
  expect([(await row(id))?.state, (await row(id))?.outcome]).toEqual(['open', '{"away":2}']);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * HOUR_MS });
  await consumed(env, [id]);
  expect([(await row(id))?.state, await isOpen(vaultId)]).toEqual(['failed', false]);
  expect(JSON.stringify(said.mock.calls)).toContain('scan-failed');
  // The newest blocks of now are not those of the request.
  [story.isUnreachable, story.found] = [false, []];
  expect(await reopenScans(env.DB, vaultId, Date.now())).toEqual([id]);
  await consumed(env, [id]);
  expect([(await row(id))?.state, recorded]).toEqual(['done', hashesTo(2)]);
  said.mockRestore();
});

test('the sweep sends open scans whose message was lost, and removes those completed a month ago', async () => {
  const lost = await requested({ nowMs: Date.now() - HOUR_MS });
  const fresh = await requested();
  const old = await requested({ nowMs: Date.now() - 31 * 24 * HOUR_MS, found: [] });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 31 * 24 * HOUR_MS });
  await consumed(old.env, [old.id]);
  await consumed(old.env, [old.id]);
  vi.useRealTimers();
  expect((await row(old.id))?.state).toBe('done');
  await sweep(lost.env, { nowMs: Date.now(), settingFaults: [], fingerprints: [] });
  expect([lost.sent.includes(lost.id), lost.sent.includes(fresh.id), await row(old.id)]).toEqual([true, false, null]);
  // The message of this scan is in flight, so the next run does not send it again.
  await sweep(lost.env, { nowMs: Date.now(), settingFaults: [], fingerprints: [] });
  expect(lost.sent.filter((id) => id === lost.id)).toHaveLength(1);
});

/** Returns the counts of the only report of a vault, for its only wallet. */
async function reportOf(vaultId: number) {
  const [report, ...others] = await scanReports(coordinator.DB, { vaultId, reportAtMs: null, nowMs: Date.now() });
  const [wallet] = report?.wallets ?? [];
  expect([report?.wallets.length, others]).toEqual([1, []]);
  const { found, known, added, unrecorded } = wallet?.counts ?? {};
  return [wallet?.state, found, known, added, unrecorded];
}

test('a report counts what was found, what the vault had, and what it has since, over all rows of the scan', async () => {
  const { env, vaultId, id, story, sent } = await requested({ found: hashesTo(60) });
  [story.known, story.foreign] = [hashesTo(20), [hash(60)]];
  expect(await reportOf(vaultId)).toEqual(['waiting', undefined, undefined, undefined, undefined]);
  await consumed(env, [id]);
  expect(sent).toEqual([id, `${id}.1`, `${id}.2`]);
  expect(await reportOf(vaultId)).toEqual(['recording', 60, 20, 0, 0]);
  await consumed(env, [id]);
  expect(await reportOf(vaultId)).toEqual(['recording', 60, 20, 25, 0]);
  await consumed(env, [`${id}.1`, `${id}.2`, id, `${id}.1`]);
  expect(await reportOf(vaultId)).toEqual(['done', 60, 20, 39, 1]);
  const [report] = await scanReports(coordinator.DB, { vaultId, reportAtMs: null, nowMs: Date.now() });
  const range = { fromBlock: '0', toBlock: '256' };
  expect(report?.wallets[0]?.counts?.coverage).toEqual({
    requested: range,
    tokens: range,
    payments: range,
    untraced: 0,
  });
});

test('what a scan recorded before its process ended is still new, and counts once', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { env, vaultId, id, recorded, story } = await requested({ found: hashesTo(3) });
  const unread = await openScan(env.DB, id);
  await consumed(env, [id]);
  story.fatal = hash(3);
  await consumed(env, [id]);
  expect([recorded, await reportOf(vaultId)]).toEqual([hashesTo(2), ['recording', 3, 0, 0, 0]]);
  // The message of the reading arrives again. By now the vault has two of the transactions.
  if (unread === null) throw new Error('it was requested just now');
  const groups = [{ hashes: hashesTo(2), isFresh: false }];
  await storeHashes(env.DB, unread, { groups, coverage: COVERAGE, nowMs: Date.now() });
  story.fatal = null;
  await consumed(env, [id, id]);
  expect(await reportOf(vaultId)).toEqual(['done', 3, 0, 3, 0]);
  said.mockRestore();
});

test('two tries of a row at the same time count each transaction once, and lose none', async () => {
  const { env, vaultId, id } = await requested({ found: hashesTo(3) });
  await consumed(env, [id]);
  const before = await openScan(env.DB, id);
  if (before === null) throw new Error('it has hashes');
  const tried = { state: 'open' as const, tries: 1, dueAtMs: Date.now(), outcome: null, unrecorded: 0 };
  await updateScan(env.DB, before, { ...tried, hashes: [hash(3)], added: 2 });
  await updateScan(env.DB, before, { ...tried, state: 'done', hashes: [], added: 3 });
  expect([await reportOf(vaultId), await row(id)]).toMatchObject([
    ['recording', 3, 0, 2, 0],
    { state: 'open', hashes: JSON.stringify([hash(3)]) },
  ]);
  await consumed(env, [id, id]);
  expect(await reportOf(vaultId)).toEqual(['done', 3, 0, 3, 0]);
});

test('the report of a scan that was given up states it, and counts on when the scan is reopened', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { env, vaultId, id, story } = await requested({ found: hashesTo(2) });
  story.missing = [hash(2)];
  await consumed(env, [id]);
  await consumed(env, [id]);
  story.isUnreachable = true;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 24 * HOUR_MS });
  await consumed(env, [id]);
  expect(await reportOf(vaultId)).toEqual(['failed', 2, 0, 1, 0]);
  [story.isUnreachable, story.missing] = [false, []];
  await reopenScans(env.DB, vaultId, Date.now());
  expect(await reportOf(vaultId)).toEqual(['recording', 2, 0, 1, 0]);
  await consumed(env, [id]);
  expect(await reportOf(vaultId)).toEqual(['done', 2, 0, 2, 0]);
  said.mockRestore();
});

test('a vault has its newest 20 reports, for 30 days, and none of another vault', async () => {
  const nowMs = Math.floor(Date.now() / 60_000) * 60_000;
  const [vaultId, other] = [(vaults += 1), (vaults += 1)];
  const wallets = ['eip155:1', 'eip155:10'].map((chain) => ({
    chain,
    address: RECIPIENT,
    isReadable: chain !== 'eip155:10',
  }));
  const request = (id: number, atMs: number) => requestRescan(coordinator.DB, { vaultId: id, wallets }, atMs);
  await request(other, nowMs - 30 * 60_000);
  for (let minute = 21; minute >= 0; minute--) await request(vaultId, nowMs - minute * 60_000);
  const again = await request(vaultId, nowMs + 59_999);
  expect([again.reportAtMs, again.open.length]).toEqual([nowMs, 1]);
  const reports = async (id: number, atMs: number) =>
    scanReports(coordinator.DB, { vaultId: id, reportAtMs: null, nowMs: atMs });
  const own = await reports(vaultId, nowMs);
  expect(own.map(({ reportAtMs }) => (nowMs - reportAtMs) / 60_000)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  expect(own[19]?.wallets.map(({ chain, state }) => [chain, state])).toEqual([
    ['eip155:1', 'waiting'],
    ['eip155:10', 'not-scanned'],
  ]);
  expect([(await reports(other, nowMs)).length, (await reports(vaultId, nowMs + 31 * 24 * HOUR_MS)).length]).toEqual([
    1, 0,
  ]);
});
