import { getAddress } from 'viem/utils';
import { afterEach, expect, test, vi } from 'vitest';
import { chainsFrom, findChain } from '#chains/registry.ts';
import { parseVaultId } from '#domain/id.ts';
import { reconcile } from '#jobs/reconcile.ts';
import { sweep } from '#jobs/sweep.ts';
import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultDoors } from '#objects/vault/doors.ts';
import { reopenFailed } from '#store/retried-rows.ts';
import { isScanOpen, openScan, requestScan, storeHashes } from '#store/scans.ts';
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
  const story: World['story'] = { found, isUnreachable: false, missing: [], fatal: null };
  const [sent, recorded]: [string[], string[]] = [[], []];
  const report = async (event: { readonly type: string; readonly hash: string }) => {
    if (event.type !== 'recordActivity') return 'none';
    if (event.hash === story.fatal) throw new Error('the process ends here');
    recorded.push(event.hash);
    return 'recorded';
  };
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
    RPC_URLS: JSON.stringify({ ethereum: ['http://node.test'] }),
    ACTIVITY_QUEUE: { send, sendBatch },
    VAULT: { getByName: () => ({ report, query: async () => [], rearmAlarm: async () => {} }) },
  } as unknown as CoordinatorEnv;
  const id = await requestScan(env.DB, { vaultId, chain: 'eip155:1', address: wallet, sinceBlock: null }, nowMs);
  if (id === null) throw new Error('it was requested just now');
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

test('a difference is scanned for even when the prices cannot be read afterwards', async () => {
  const { env, vaultId, sent } = await requested();
  const id = parseVaultId(vaultId + 50);
  const chain = findChain(chainsFrom({}), 'ethereum');
  if (id === null || chain === null) throw new Error('both are known');
  const vault = {
    query: async () => [{ chain, address: RECIPIENT, assets: [], hasDiscrepancy: true }],
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
  await storeHashes(env.DB, unread, { groups: [[hash(1), hash(2)], [hash(3)]], nowMs });
  await storeHashes(env.DB, unread, { groups: [[hash(9)], [hash(1)], [hash(2)]], nowMs });
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
  expect(await reopenFailed(env.DB, 'scans', Date.now())).toEqual([id]);
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
  await sweep(lost.env, Date.now());
  expect([lost.sent.includes(lost.id), lost.sent.includes(fresh.id), await row(old.id)]).toEqual([true, false, null]);
  // The message of this scan is in flight, so the next run does not send it again.
  await sweep(lost.env, Date.now());
  expect(lost.sent.filter((id) => id === lost.id)).toHaveLength(1);
});
