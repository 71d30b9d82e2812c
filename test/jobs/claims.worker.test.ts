import { afterEach, expect, test, vi } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { keepClaim, recordHints } from '#jobs/record-hints.ts';
import { PRUNES } from '#jobs/prune.ts';
import { asService, coordinator } from '../http/scene.worker.ts';

/** Covers what one RPC node alone states of a transaction, until operators have read it. */

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const GENESIS = '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f';
const BLOCK = 'b1'.repeat(32);
const PAID = {
  txid: 'aa'.repeat(32),
  fee: 200,
  weight: 561,
  vin: [{ txid: 'cc'.repeat(32), vout: 0, prevout: { value: 1000, scriptpubkey_address: 'bc1from' } }],
  vout: [{ value: 800, scriptpubkey_address: 'bc1to' }],
  status: { confirmed: true, block_height: 100, block_hash: BLOCK },
};

/** Lets the server of `liar.test` state a payment that `honest.test` has never received. */
function lyingServers(): CoordinatorEnv {
  const answers: Readonly<Record<string, unknown>> = {
    'block-height/0': GENESIS,
    'blocks/tip/height': 110,
    [`tx/${PAID.txid}`]: PAID,
  };
  vi.stubGlobal('fetch', async (url: string) => {
    const { host, pathname } = new URL(url);
    const path = pathname.replace(/^\/(key\/)?/, '');
    const answer = host === 'honest.test' && path.startsWith('tx/') ? undefined : answers[path];
    if (answer === undefined) return new Response('Not found', { status: 404 });
    return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  const urls = JSON.stringify({ bitcoin: ['https://honest.test', 'https://liar.test/key'] });
  return { ...coordinator, RPC_URLS: urls };
}

const shownClaims = async () => {
  const { body } = await asService('GET /internal/status');
  return body['claims'] as readonly { hash: string; host: string; firstAt: string; lastAt: string }[];
};

test('a payment that one RPC node alone states is in the status, with its host, and in no record', async () => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  await asService('GET /internal/status');
  const env = lyingServers();
  const hint = { chain: 'bip122:000000000019d6689c085ae165831e93', hash: PAID.txid };
  const outcomes = await recordHints(env, [hint], { tries: 0, outcome: null, sinceMs: Date.now() });
  vi.unstubAllGlobals();
  expect(outcomes).toEqual(['claimed']);
  expect(await shownClaims()).toEqual([
    {
      chain: 'bitcoin',
      hash: PAID.txid,
      host: 'liar.test',
      firstAt: expect.any(String),
      lastAt: expect.any(String),
    },
  ]);
  expect(logged.mock.calls.join()).toContain('claim-unproven');
});

test('a claim is shown while it is stated again, since its first statement, and its row ends after 30 days', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await asService('GET /internal/status');
  const nowMs = Date.now();
  const claim = { chain: 'bitcoin', hash: 'bb'.repeat(32), host: 'liar.test' };
  const insert = coordinator.DB.prepare(
    'INSERT INTO claims (chain, hash, host, first_at_ms, last_at_ms) VALUES (?, ?, ?, ?, ?)',
  );
  const firstAtMs = nowMs - 20 * 60_000;
  await insert.bind('bitcoin', claim.hash, claim.host, firstAtMs, nowMs - 16 * 60_000).run();
  const shown = async () => (await shownClaims()).filter(({ hash }) => hash === claim.hash);
  const attention = async () => {
    const { body } = await asService('GET /internal/status');
    return (body['attention'] as readonly { code: string }[]).map(({ code }) => code);
  };
  expect(await shown()).toEqual([]);
  expect(await attention()).not.toContain('unproven-claims');
  await keepClaim(coordinator, claim);
  expect(await shown()).toMatchObject([{ firstAt: new Date(firstAtMs).toISOString() }]);
  expect(await attention()).toContain('unproven-claims');
  const count = async () =>
    (await coordinator.DB.prepare("SELECT 1 FROM claims WHERE hash LIKE 'bb%'").all()).results.length;
  const day = 24 * 60 * 60_000;
  await PRUNES['prune-claims'](coordinator, nowMs + 29 * day);
  expect(await count()).toBe(1);
  await PRUNES['prune-claims'](coordinator, nowMs + 31 * day);
  expect(await count()).toBe(0);
});
