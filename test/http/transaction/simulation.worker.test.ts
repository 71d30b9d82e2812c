import { expect, test } from 'vitest';
import { call, created, foundTreasury } from '../scene.worker.ts';

/** What would happen, by the word of a node. There is none in these tests; test/chains/evm/client/simulate.test.ts has a real one. */

test('where no node says, that is said, and nothing is made up', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const answer = await call(`GET /transaction/${body['id']}/simulation`, { token: treasury.victor.token });
  expect([answer.status, answer.body]).toEqual([
    200,
    {
      outcome: 'unknown',
      detail: 'No RPC node is configured for the chain of the transaction.',
      balanceChanges: [],
      allowances: [],
    },
  ]);
});

test('a message is carried out by no chain', async () => {
  const treasury = await foundTreasury();
  const { body } = await call('POST /transaction/message', {
    token: treasury.alice.token,
    body: { vaultId: treasury.id, chain: 'anvil', message: 'hello' },
  });
  const answer = await call(`GET /transaction/${body['id']}/simulation`, { token: treasury.bob.token });
  expect([answer.body['outcome'], answer.body['detail']]).toEqual(['unknown', expect.stringContaining('message')]);
});

test('of what is decided there is nothing to foresee, and strangers foresee nothing', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const path = `GET /transaction/${body['id']}/simulation`;
  expect((await call(path, { token: treasury.mallory.token })).status).toBe(403);
  await call(`POST /transaction/${body['id']}/reject`, { token: treasury.bob.token });
  const late = await call(path, { token: treasury.bob.token });
  expect([late.status, late.body['code']]).toEqual([409, 'transaction-not-pending']);
});
