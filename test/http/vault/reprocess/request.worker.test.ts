import { expect, test } from 'vitest';
import * as z from 'zod';
import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { call, coordinator, enter, foundTreasury, join } from '../../scene.worker.ts';

/** Covers the messages that a request sends. test/e2e covers what they come to. */

test('a request scans each chain with an RPC node, and retries failed deliveries and its failed scans', async () => {
  const { id: vaultId, alice } = await foundTreasury();
  const delivery = `INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, tries, due_at_ms)
    VALUES ('delivery', 'alchemy', 'e', '{}', 0, 'failed', 9, 0)`;
  const scan = (id: string, of: number) => `INSERT INTO scans
    (id, vault_id, chain, address, started_at_ms, state, tries, due_at_ms)
    VALUES ('${id}', ${of}, 'eip155:1', '0x', 0, 'failed', 9, 0)`;
  const failed = [delivery, scan('own', vaultId), scan('of-another', vaultId + 1)];
  await coordinator.DB.batch(failed.map((sql) => coordinator.DB.prepare(sql)));
  const sent: ActivityMessage[] = [];
  const send = async (message: ActivityMessage) => void sent.push(message);
  const RPC_URLS = JSON.stringify({ anvil: ['https://node.test'] });
  const env = { ...coordinator, RPC_URLS, ACTIVITY_QUEUE: { send } } as unknown as CoordinatorEnv;
  const request = () => call(`POST /vault/${vaultId}/reprocess-incoming-transactions`, { token: alice.token, env });
  expect(await request()).toMatchObject({
    status: 202,
    body: { accepted: true, chains: ['anvil'], reportId: expect.any(String) },
  });
  const reopened = { deliveryId: 'delivery', dueAtMs: expect.any(Number) };
  expect(sent).toEqual([{ scanId: expect.any(String) }, { scanId: 'own' }, reopened]);
  const open = "SELECT vault_id, chain, tries FROM scans WHERE state = 'open' ORDER BY vault_id, chain";
  expect((await coordinator.DB.prepare(open).all()).results).toEqual([
    { vault_id: vaultId, chain: 'eip155:1', tries: 0 },
    { vault_id: vaultId, chain: 'eip155:31337', tries: 0 },
  ]);
});

test('members of the vault alone read the report of a request, by its id and in the list', async () => {
  const { id: vaultId, alice } = await foundTreasury();
  const viewer = await enter('viewer');
  await join({ id: vaultId }, viewer, ['viewer']);
  const elsewhere = await foundTreasury();
  const RPC_URLS = JSON.stringify({ anvil: ['https://node.test'] });
  const env = { ...coordinator, RPC_URLS, ACTIVITY_QUEUE: { send: async () => {} } } as unknown as CoordinatorEnv;
  const path = `/vault/${vaultId}/reprocess-report`;
  const read = (person: { readonly token: string }, url: string) => call(`GET ${url}`, { token: person.token, env });
  expect(await read(viewer, path)).toMatchObject({ status: 200, body: { data: [], nextCursor: null } });
  const requested = await call(`POST /vault/${vaultId}/reprocess-incoming-transactions`, { token: alice.token, env });
  const { reportId } = z.object({ reportId: z.string() }).parse(requested.body);
  const unread = { scanned: null, found: null, known: null, new: null, unrecorded: null, pending: null };
  const report = {
    id: reportId,
    requestedAt: new Date(Number.parseInt(reportId, 10)).toISOString(),
    state: 'open',
    wallets: expect.arrayContaining([expect.objectContaining({ chain: 'anvil', state: 'waiting', ...unread })]),
  };
  expect(await read(viewer, `${path}/${reportId}`)).toMatchObject({ status: 200, body: report });
  expect(await read(viewer, path)).toMatchObject({ status: 200, body: { data: [report], nextCursor: null } });
  for (const url of [path, `${path}/${reportId}`]) {
    expect(await read(elsewhere.alice, url)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  }
  const foreign = `/vault/${elsewhere.id}/reprocess-report`;
  expect(await read(elsewhere.alice, foreign)).toMatchObject({ body: { data: [] } });
  expect(await read(elsewhere.alice, `${foreign}/${reportId}`)).toMatchObject({
    status: 404,
    body: { code: 'reprocess-report-not-found' },
  });
  for (const id of ['0', 'x', '99999999999999999999', `${reportId}.0`]) {
    expect(await read(alice, `${path}/${id}`)).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
  }
});
