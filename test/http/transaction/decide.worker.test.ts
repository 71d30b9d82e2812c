import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type { Answer, Treasury } from '../scene.worker.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { call, changePolicy, coordinator, created, foundTreasury, RECIPIENT, stored } from '../scene.worker.ts';

/** Covers reads, challenges, approvals and rejections over the API. */

async function approve(
  treasury: Treasury,
  who: 'alice' | 'bob' | 'carol' | 'victor' | 'mallory',
  id: string,
): Promise<Answer> {
  return call(`POST /transaction/${id}/approve`, { token: treasury[who].token });
}

test('the challenge shows the intent, and a signer can compute its digest', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury, { note: 'Rent' });
  const { status, body: challenge } = await call(`GET /transaction/${body['id']}/challenge`, {
    token: treasury.bob.token,
  });
  expect(status).toBe(200);
  expect(bytesToHex(sha256(hexToBytes(challenge['canonical'])))).toBe(challenge['digest']);
  expect(challenge['digest']).toBe(body['digest']);
  expect(challenge['intent']).toMatchObject({ to: RECIPIENT, amount: '1000', tokenAddress: null, note: 'Rent' });
  expect(challenge['approvals']).toEqual({ required: 2, count: 0, remaining: 2, byMe: false });
});

test('the first approval is counted and changes nothing else, and the second one decides', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const first = await approve(treasury, 'alice', body['id']);
  expect([first.status, first.body['state'], first.body['approvalsCounted'], first.body['actionsForMe']]).toEqual([
    200,
    'SUBMITTED',
    1,
    ['reject', 'cancel'],
  ]);
  const second = await approve(treasury, 'bob', body['id']);
  expect([second.status, second.body['state'], second.body['approvalsCounted']]).toEqual([200, 'SIGNING', 2]);
  expect(second.body['approvals'].map(({ userId }: { userId: string }) => userId)).toEqual([
    treasury.alice.id,
    treasury.bob.id,
  ]);
});

test('a repeated approval gets the same response, which states that it was already counted', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  expect((await approve(treasury, 'alice', body['id'])).body['alreadyCounted']).toBe(false);
  const again = await approve(treasury, 'alice', body['id']);
  expect([again.status, again.body['alreadyCounted'], again.body['approvalsCounted']]).toEqual([200, true, 1]);
  // This applies after the decision too, because the first response may have been lost.
  await approve(treasury, 'bob', body['id']);
  expect((await approve(treasury, 'bob', body['id'])).body['alreadyCounted']).toBe(true);
});

test('a third approval after the decision is refused with a reason', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await approve(treasury, 'alice', body['id']);
  await approve(treasury, 'bob', body['id']);
  const late = await approve(treasury, 'carol', body['id']);
  expect([late.status, late.body['code'], late.body['state']]).toEqual([409, 'transaction-not-pending', 'SIGNING']);
});

test('any signer may reject a pending transaction, also after an approval, and this ends it', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await approve(treasury, 'alice', body['id']);
  const rejected = await call(`POST /transaction/${body['id']}/reject`, { token: treasury.alice.token });
  expect([rejected.status, rejected.body['state'], rejected.body['rejection'].userId]).toEqual([
    200,
    'REJECTED',
    treasury.alice.id,
  ]);
  const again = await call(`POST /transaction/${body['id']}/reject`, { token: treasury.alice.token });
  expect([again.status, again.body['alreadyCounted']]).toEqual([200, true]);
  expect((await approve(treasury, 'bob', body['id'])).status).toBe(409);
  expect((await approve(treasury, 'alice', body['id'])).status).toBe(409);
});

test('a decided transaction has no challenge and accepts no rejection', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await approve(treasury, 'alice', body['id']);
  await approve(treasury, 'bob', body['id']);
  const { token } = treasury.carol;
  const tries = [
    await call(`GET /transaction/${body['id']}/challenge`, { token }),
    await call(`POST /transaction/${body['id']}/reject`, { token }),
  ];
  expect(tries.map((answer) => [answer.status, answer.body['code']])).toEqual([
    [409, 'transaction-not-pending'],
    [409, 'transaction-not-pending'],
  ]);
});

test('a viewer can read and do nothing else, and a stranger cannot read', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const before = await stored(treasury);
  const lines = ['GET', 'GET /challenge', 'POST /approve', 'POST /reject'].map((line) => {
    const [method, tail = ''] = line.split(' ');
    return `${method} /transaction/${body['id']}${tail}`;
  });
  const statuses = async (token: string) =>
    Promise.all(lines.map(async (line) => (await call(line, { token })).status));
  expect(await statuses(treasury.victor.token)).toEqual([200, 403, 403, 403]);
  expect(await statuses(treasury.mallory.token)).toEqual([403, 403, 403, 403]);
  expect(await stored(treasury)).toEqual(before);
});

test('a stranger gets the same response for a missing transaction and for one of another vault', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const { token } = treasury.mallory;
  const real = await call(`GET /transaction/${body['id']}`, { token });
  const [vault = ''] = String(body['id']).split('.');
  const made = await call(`GET /transaction/${vault}.01J00000000000000000000000`, { token });
  const nowhere = await call('GET /transaction/999999.01J00000000000000000000000', { token });
  const shape = ({ status, body: { requestId: _requestId, ...rest } }: Answer) => ({ status, ...rest });
  expect(shape(made)).toEqual(shape(real));
  expect(shape(nowhere)).toEqual(shape(real));
  const member = await call(`GET /transaction/${vault}.01J00000000000000000000000`, { token: treasury.alice.token });
  expect([member.status, member.body['code']]).toEqual([404, 'transaction-not-found']);
});

test.each([
  '1',
  '1.',
  'abc',
  '1.abc',
  '0.01J00000000000000000000000',
  '1.01J0000000000000000000000O',
  '1.01J00000000000000000000000%00',
])('the id %s is invalid', async (id) => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const tries = [
    await call(`GET /transaction/${id}`, { token }),
    await call(`POST /transaction/${id}/approve`, { token }),
  ];
  expect(tries.map((answer) => [answer.status, answer.body['code']])).toEqual([
    [400, 'invalid-request'],
    [400, 'invalid-request'],
  ]);
});

test('an approval and a rejection refuse any body', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const { token } = treasury.alice;
  const surprised = await call(`POST /transaction/${body['id']}/approve`, { token, body: { amount: '5' } });
  expect([surprised.status, surprised.body['code']]).toEqual([400, 'invalid-request']);
  expect((await call(`GET /transaction/${body['id']}`, { token })).body['approvalsCounted']).toBe(0);
  const empty = await call(`POST /transaction/${body['id']}/approve`, { token, body: {} });
  expect(empty.status).toBe(200);
});

test('the approval of a signer who is removed from the vault does not count', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await approve(treasury, 'alice', body['id']);
  await changePolicy(treasury, { signers: [treasury.bob.id, treasury.carol.id] });
  const { token } = treasury.bob;
  expect((await call(`GET /transaction/${body['id']}`, { token })).body['approvalsCounted']).toBe(0);
  expect((await approve(treasury, 'alice', body['id'])).status).toBe(403);
  await approve(treasury, 'bob', body['id']);
  expect((await approve(treasury, 'carol', body['id'])).body['state']).toBe('SIGNING');
});

test('a lowered threshold approves no pending transaction, and a raised one applies to it', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await approve(treasury, 'alice', body['id']);
  await changePolicy(treasury, { threshold: 1 });
  const { token } = treasury.victor;
  expect((await call(`GET /transaction/${body['id']}`, { token })).body['state']).toBe('SUBMITTED');
  await changePolicy(treasury, { threshold: 3 });
  expect((await approve(treasury, 'bob', body['id'])).body['state']).toBe('SUBMITTED');
  expect((await approve(treasury, 'carol', body['id'])).body['state']).toBe('SIGNING');
});

test('simultaneous approvals are counted one by one', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const answers = await Promise.all([
    approve(treasury, 'alice', body['id']),
    approve(treasury, 'bob', body['id']),
    approve(treasury, 'carol', body['id']),
  ]);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 409]);
  const read = await call(`GET /transaction/${body['id']}`, { token: treasury.victor.token });
  expect([read.body['state'], read.body['approvals'].length]).toEqual(['SIGNING', 2]);
});

test('the history shows each action with its person, token and address', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const { token } = treasury.bob;
  const headers = { 'cf-connecting-ip': '2001:db8::7' };
  await call(`POST /transaction/${body['id']}/approve`, { token, headers });
  await call(`POST /transaction/${body['id']}/reject`, { token, headers: { 'cf-connecting-ip': 'nowhere <b>' } });
  await call(`GET /vault/${treasury.id}/transactions`, { token });
  const { results } = await coordinator.DB.prepare('SELECT entry FROM audit WHERE transaction_id = ? ORDER BY seq')
    .bind(body['id'])
    .all<{ entry: string }>();
  const entries = results.map(({ entry }) => JSON.parse(entry) as HistoryEntry);
  expect(entries.map(({ action, actor, digest }) => [action, actor?.userId, actor?.address, digest])).toEqual([
    ['create', treasury.alice.id, null, body['digest']],
    ['approve', treasury.bob.id, '2001:db8::7', body['digest']],
    ['reject', treasury.bob.id, null, body['digest']],
  ]);
  expect(entries.map(({ actor }) => actor?.tokenId)[1]).toBe(token.slice(12, 28));
});
