import { expect, test } from 'vitest';
import type { Answer } from '../scene.worker.ts';
import { anotherToken, call, created, enter, join, foundTreasury, stored } from '../scene.worker.ts';

/** Covers the cancellation of a pending transaction, and the visibility of transactions. */

const code = ({ status, body }: Answer) => [status, body['code']];

test('the creator cancels a transaction, and no signer can decide it afterwards', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const cancel = () => call(`POST /transaction/${body['id']}/cancel`, { token: treasury.alice.token });
  const cancelled = await cancel();
  expect([cancelled.status, cancelled.body['state'], cancelled.body['stateReason']]).toEqual([
    200,
    'CANCELLED',
    'CANCELLED_BY_USER',
  ]);
  expect(cancelled.body['actionsForMe']).toEqual([]);
  const again = await cancel();
  expect([again.status, again.body]).toEqual([200, cancelled.body]);
  for (const decision of ['approve', 'reject']) {
    const late = await call(`POST /transaction/${body['id']}/${decision}`, { token: treasury.bob.token });
    expect(code(late)).toEqual([409, 'transaction-not-pending']);
  }
});

test('an admin can cancel transactions of others, and another signer, a viewer or a stranger cannot', async () => {
  const treasury = await foundTreasury();
  const admin = await enter('adam');
  await join(treasury, admin, ['admin']);
  const { body } = await created(treasury);
  const before = await stored(treasury);
  for (const { token } of [treasury.bob, treasury.victor, treasury.mallory]) {
    expect(code(await call(`POST /transaction/${body['id']}/cancel`, { token }))).toEqual([403, 'forbidden']);
  }
  expect(await stored(treasury)).toEqual(before);
  const seen = await call(`GET /transaction/${body['id']}`, { token: admin.token });
  expect(seen.body['actionsForMe']).toEqual(['cancel']);
  const cancelled = await call(`POST /transaction/${body['id']}/cancel`, { token: admin.token });
  expect(cancelled.body['state']).toBe('CANCELLED');
});

test('a decided transaction cannot be cancelled', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await call(`POST /transaction/${body['id']}/reject`, { token: treasury.bob.token });
  const late = await call(`POST /transaction/${body['id']}/cancel`, { token: treasury.alice.token });
  expect(code(late)).toEqual([409, 'transaction-not-pending']);
  const nowhere = body['id'].replace(/.$/, (last: string) => (last === '0' ? '1' : '0'));
  expect(code(await call(`POST /transaction/${nowhere}/cancel`, { token: treasury.alice.token }))).toEqual([
    404,
    'transaction-not-found',
  ]);
  const body7 = { token: treasury.alice.token, body: { why: 'x' } };
  expect((await call(`POST /transaction/${body['id']}/cancel`, body7)).status).toBe(400);
});

test('an acknowledgement ends only a transaction in flight, and must be a known one', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const end = (acknowledge: unknown) =>
    call(`POST /transaction/${body['id']}/cancel`, { token: treasury.alice.token, body: { acknowledge } });
  expect(code(await end('COIN_UNKNOWN'))).toEqual([409, 'transaction-not-pending']);
  for (const acknowledge of ['', 'CONFLICTED', true, null]) expect((await end(acknowledge)).status).toBe(400);
  await call(`POST /transaction/${body['id']}/cancel`, { token: treasury.alice.token });
  expect(code(await end('COIN_UNKNOWN'))).toEqual([409, 'transaction-not-pending']);
});

test('a hidden transaction is in the list only on request, and returns when it is shown', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const line = `PATCH /transaction/${body['id']}/visibility`;
  const list = async (query = '') => {
    const { token } = await anotherToken(treasury.victor);
    const page = await call(`GET /vault/${treasury.id}/transactions${query}`, { token });
    return page.body['transactions'].length;
  };
  const hidden = await call(line, { token: treasury.alice.token, body: { visible: false } });
  expect([hidden.status, hidden.body['id'], hidden.body['visible']]).toEqual([200, body['id'], false]);
  expect([await list(), await list('?visible=false'), await list('?visible=all')]).toEqual([0, 1, 1]);
  const again = await call(line, { token: treasury.alice.token, body: { visible: false } });
  expect(again.body['version']).toBe(hidden.body['version']);
  const shown = await call(line, { token: treasury.bob.token, body: { visible: true } });
  expect([shown.body['visible'], await list()]).toEqual([true, 1]);
});

test('hiding a transaction changes nothing else, and its approval shows it', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await call(`PATCH /transaction/${body['id']}/visibility`, { token: treasury.alice.token, body: { visible: false } });
  await call(`POST /transaction/${body['id']}/approve`, { token: treasury.alice.token });
  const decided = await call(`POST /transaction/${body['id']}/approve`, { token: treasury.bob.token });
  expect([decided.body['state'], decided.body['visible'], decided.body['digest']]).toEqual([
    'SIGNING',
    true,
    body['digest'],
  ]);
});

test.each<[unknown, string]>([
  [{}, '/visible'],
  [{ visible: 'true' }, '/visible'],
  [{ visible: null }, '/visible'],
  [{ visible: true, state: 'SUCCEEDED' }, '/state'],
])('the visibility %j is refused', async (body, pointer) => {
  const treasury = await foundTreasury();
  const { body: record } = await created(treasury);
  const before = await stored(treasury);
  const answer = await call(`PATCH /transaction/${record['id']}/visibility`, { token: treasury.alice.token, body });
  expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, pointer]);
  expect(await stored(treasury)).toEqual(before);
});

test('neither a viewer nor a stranger can show or hide a transaction', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  for (const { token } of [treasury.victor, treasury.mallory]) {
    const answer = await call(`PATCH /transaction/${body['id']}/visibility`, { token, body: { visible: false } });
    expect(code(answer)).toEqual([403, 'forbidden']);
  }
});
