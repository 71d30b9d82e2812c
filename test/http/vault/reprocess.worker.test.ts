import { expect, test } from 'vitest';
import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { call, coordinator, foundTreasury } from '../scene.worker.ts';

/** Covers the messages that a request sends. test/e2e covers what they come to. */

test('a request scans each chain with an RPC node, and retries failed deliveries and failed scans', async () => {
  const { id: vaultId, alice } = await foundTreasury();
  const delivery = `INSERT INTO deliveries (id, provider, endpoint_id, body, received_at_ms, state, tries, due_at_ms)
    VALUES ('delivery', 'alchemy', 'e', '{}', 0, 'failed', 9, 0)`;
  const scan = `INSERT INTO scans (id, vault_id, chain, address, started_at_ms, state, tries, due_at_ms)
    VALUES ('scan', 1, 'eip155:1', '0x', 0, 'failed', 9, 0)`;
  await coordinator.DB.batch([delivery, scan].map((sql) => coordinator.DB.prepare(sql)));
  const sent: ActivityMessage[] = [];
  const send = async (message: ActivityMessage) => void sent.push(message);
  const RPC_URLS = JSON.stringify({ anvil: ['http://node.test'] });
  const env = { ...coordinator, RPC_URLS, ACTIVITY_QUEUE: { send } } as unknown as CoordinatorEnv;
  const request = () => call(`POST /vault/${vaultId}/reprocess-incoming-transactions`, { token: alice.token, env });
  expect(await request()).toMatchObject({ status: 202, body: { accepted: true, chains: ['anvil'] } });
  expect(sent).toEqual([{ scanId: expect.any(String) }, { deliveryId: 'delivery' }, { scanId: 'scan' }]);
  const open = "SELECT vault_id, chain, tries FROM scans WHERE state = 'open' ORDER BY vault_id, chain";
  expect((await coordinator.DB.prepare(open).all()).results).toEqual(
    expect.arrayContaining([
      { vault_id: vaultId, chain: 'eip155:31337', tries: 0 },
      { vault_id: 1, chain: 'eip155:1', tries: 0 },
    ]),
  );
});
