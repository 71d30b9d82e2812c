import { expect, test } from 'vitest';
import type { HeldShares } from '#cosigner-client/held-shares.ts';
import type { Answer } from '../scene.worker.ts';
import { asService, call, coordinator, foundTreasury } from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/** Covers how an operator starts and gives up a key refresh. */

const KEY = 'a'.repeat(26);

/** Returns a vault whose key is being refreshed, and the path of that refresh. */
async function refreshedVault() {
  const { id } = await foundTreasury();
  const path = `/internal/vault/${id}/key/${KEY}/refresh`;
  const started = await asService(`POST ${path}`);
  expect([started.status, started.body['refreshing']]).toEqual([202, true]);
  return { path, vault: vaultOf(coordinator, id) };
}

/** Gives the refresh up while the co-signers 1 and 2 answer with these shares; 3 is unreachable. */
function givesUp(path: string, first: HeldShares, second: HeldShares): Promise<Answer> {
  const answering = (value: HeldShares) => ({ fetch: async () => Response.json({ ok: true, value }) });
  const [COSIGNER_1, COSIGNER_2] = [answering(first), answering(second)] as unknown as readonly [Fetcher, Fetcher];
  return call(`DELETE ${path}`, {
    token: coordinator.TEST_SERVICE_KEY,
    env: { ...coordinator, COSIGNER_1, COSIGNER_2 },
  });
}

const share = (change: Partial<HeldShares[number]>): HeldShares[number] => ({
  epoch: 2,
  isActive: false,
  statement: 'ab',
  publicShares: {},
  receipts: {},
  ...change,
});
const OLD = share({ epoch: 1, isActive: true });
const WAITING = [OLD, share({ receipts: { '2': 'receipt of 2' } })];

test('an operator gives up a refresh, also while no co-signer answers, and a repetition gets the same response', async () => {
  const { path, vault } = await refreshedVault();
  const first = await asService(`DELETE ${path}`);
  const second = await asService(`DELETE ${path}`);
  expect([first.status, first.body['refreshing']]).toEqual([200, false]);
  expect([second.status, second.body]).toEqual([200, first.body]);
  expect(await vault.work({ type: 'refreshWork' })).toBeNull();
});

test('a refresh whose record shows an activation is not given up', async () => {
  const { path, vault } = await refreshedVault();
  const refresh = (await vault.work({ type: 'refreshWork' }))?.refresh;
  if (refresh === undefined) throw new Error('the key is being refreshed');
  await vault.report({
    type: 'reportRefresh',
    refresh,
    report: { type: 'progress', refresh: { ...refresh, activating: 2 } },
  });
  const answer = await asService(`DELETE ${path}`);
  expect([answer.status, answer.body['code']]).toEqual([409, 'key-refresh-activating']);
  expect(await vault.work({ type: 'refreshWork' })).not.toBeNull();
});

test('a refresh is not given up while a co-signer uses shares that another one only holds', async () => {
  const { path, vault } = await refreshedVault();
  const inUse = [share({ isActive: true, receipts: { '1': 'receipt of 1', '2': 'receipt of 2' } })];
  const answer = await givesUp(path, inUse, WAITING);
  expect([answer.status, answer.body['code']]).toEqual([409, 'key-refresh-activating']);
  expect(await vault.work({ type: 'refreshWork' })).not.toBeNull();
});

test.each<[string, HeldShares]>([
  ['only holds the new shares', WAITING],
  ['claims to use them and shows no receipt', [share({ isActive: true })]],
  ['claims to use them and shows a forged receipt', [share({ isActive: true, receipts: { '2': 'forged' } })]],
  ['uses shares of another dealing', [share({ isActive: true, statement: 'cd', receipts: { '2': 'receipt of 2' } })]],
])('a refresh is given up while a co-signer %s', async (_name, shares) => {
  const { path, vault } = await refreshedVault();
  const answer = await givesUp(path, shares, WAITING);
  expect([answer.status, answer.body['refreshing']]).toEqual([200, false]);
  expect(await vault.work({ type: 'refreshWork' })).toBeNull();
});

test('a refresh of a missing key, or of a missing vault, is not given up, and a service key is required', async () => {
  const { path, vault } = await refreshedVault();
  const answers = [
    await asService(`DELETE ${path.replace(KEY, 'b'.repeat(26))}`),
    await asService(`DELETE /internal/vault/999999/key/${KEY}/refresh`),
    await call(`DELETE ${path}`),
  ];
  expect(answers.map(({ status, body }) => [status, body['code']])).toEqual([
    [404, 'key-not-found'],
    [404, 'vault-not-found'],
    [401, 'service-key-invalid'],
  ]);
  expect(await vault.work({ type: 'refreshWork' })).not.toBeNull();
});
