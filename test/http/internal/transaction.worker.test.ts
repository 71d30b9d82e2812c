import { beforeAll, expect, test } from 'vitest';
import type { Treasury } from '../scene.worker.ts';
import { asService, call, created, foundTreasury, RECIPIENT } from '../scene.worker.ts';

/** Covers what an operator reads of a transaction: what it waits for, without its contents. */

let treasury: Treasury;
beforeAll(async () => {
  treasury = await foundTreasury();
});

test('an operator reads what a transaction waits for, and neither amount, recipient nor people', async () => {
  const { body: record } = await created(treasury);
  const id: string = record['id'];
  const read = async () => (await asService(`GET /internal/transaction/${id}`)).body;
  const pending = await read();
  expect(pending).toMatchObject({
    id,
    vaultId: treasury.id,
    chain: 'anvil',
    state: 'SUBMITTED',
    stateReason: null,
    approvals: { count: 0, required: 2 },
    job: 'expire',
    queued: { dueAt: expect.any(String) as string, tries: 0 },
    attempts: 0,
    newestAttempt: null,
    inclusion: null,
  });
  const text = JSON.stringify(pending).toLowerCase();
  for (const secret of [RECIPIENT.toLowerCase(), treasury.alice.id]) expect(text).not.toContain(secret);
  for (const { token } of [treasury.alice, treasury.bob]) await call(`POST /transaction/${id}/approve`, { token });
  expect(await read()).toMatchObject({ state: 'SIGNING', approvals: { count: 2, required: 2 }, job: 'sign' });
  const { token } = treasury.carol;
  const other = await created(treasury);
  await call(`POST /transaction/${other.body['id']}/reject`, { token });
  expect((await asService(`GET /internal/transaction/${other.body['id']}`)).body).toMatchObject({
    state: 'REJECTED',
    job: null,
    queued: null,
  });
});

test('a transaction that does not exist is not found', async () => {
  const { body } = await created(treasury);
  const unknown = String(body['id']).replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const id of [unknown, 'none']) {
    const answer = await asService(`GET /internal/transaction/${id}`);
    expect([answer.status, answer.body['code']]).toEqual([404, 'transaction-not-found']);
  }
});
