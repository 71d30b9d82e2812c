import { expect, test } from 'vitest';
import { call, created, foundTreasury, WITHOUT_NODES } from '../scene.worker.ts';

/**
 * Covers the simulation of a transaction without an RPC node that simulates.
 * test/chains/evm/watch/simulate.test.ts uses a real one.
 */

test('a simulation without an RPC node has the outcome unknown, and no balance changes', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const answer = await call(`GET /transaction/${body['id']}/simulation`, {
    token: treasury.victor.token,
    env: WITHOUT_NODES,
  });
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      outcome: 'unknown',
      detail: 'No RPC node is configured for the chain of the transaction.',
      balanceChanges: [],
      allowances: [],
      warnings: [],
    },
  ]);
});

test('a message has no simulation, because no chain executes it', async () => {
  const treasury = await foundTreasury();
  const { body } = await call('POST /transaction/message', {
    token: treasury.alice.token,
    body: { vaultId: treasury.id, chain: 'anvil', message: 'hello' },
  });
  const answer = await call(`GET /transaction/${body['id']}/simulation`, { token: treasury.bob.token });
  expect([answer.body['outcome'], answer.body['detail']]).toEqual(['unknown', expect.stringContaining('message')]);
});

test('a decided transaction has no simulation, and a stranger gets none', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const path = `GET /transaction/${body['id']}/simulation`;
  expect((await call(path, { token: treasury.mallory.token })).status).toBe(403);
  await call(`POST /transaction/${body['id']}/reject`, { token: treasury.bob.token });
  const late = await call(path, { token: treasury.bob.token });
  expect([late.status, late.body['code']]).toEqual([409, 'transaction-not-pending']);
});
