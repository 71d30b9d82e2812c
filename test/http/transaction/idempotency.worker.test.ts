import { afterEach, expect, test, vi } from 'vitest';
import { DAY_MS } from '#domain/policy/rules.ts';
import type { Answer, Treasury } from '../scene.worker.ts';
import { anotherToken, call, foundTreasury, payment } from '../scene.worker.ts';

afterEach(() => vi.useRealTimers());

async function post(
  treasury: Treasury,
  key: string | null,
  differences: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { token } = treasury.alice;
  const headers = key === null ? {} : { 'idempotency-key': key };
  return call('POST /transaction/transfer', { token, body: payment(treasury, differences), headers });
}

async function listedIds(treasury: Treasury): Promise<readonly string[]> {
  const { body } = await call(`GET /vault/${treasury.id}/transactions`, { token: treasury.victor.token });
  return body['transactions'].map(({ id }: { id: string }) => id);
}

test('a repeated key and body give the same transfer, and the response is marked as a replay', async () => {
  const treasury = await foundTreasury();
  const [first, second] = [await post(treasury, 'payout-1'), await post(treasury, 'payout-1')];
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(second.body['id']).toBe(first.body['id']);
  const marks = [first, second].map(({ headers }) => headers.get('idempotency-replayed'));
  expect(marks).toEqual([null, 'true']);
  expect(await listedIds(treasury)).toEqual([first.body['id']]);
});

test('a key in quotes, as the standard requires, equals the same key without quotes', async () => {
  const treasury = await foundTreasury();
  const [bare, quoted] = [await post(treasury, 'payout-1'), await post(treasury, '"payout-1"')];
  expect(quoted.body['id']).toBe(bare.body['id']);
});

test('simultaneous requests with one key create one transfer', async () => {
  const treasury = await foundTreasury();
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(treasury, 'payout-1')));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
  expect(new Set(answers.map(({ body }) => body['id'])).size).toBe(1);
  expect((await listedIds(treasury)).length).toBe(1);
});

test('a replay gives the first response, whatever state the transfer has reached since', async () => {
  const treasury = await foundTreasury();
  const first = await post(treasury, 'payout-1');
  await call(`POST /transaction/${first.body['id']}/reject`, { token: treasury.bob.token });
  expect((await post(treasury, 'payout-1')).body).toEqual(first.body);
  const now = await call(`GET /transaction/${first.body['id']}`, { token: treasury.alice.token });
  expect(now.body['state']).toBe('REJECTED');
});

test('a repeated key with another body is refused, and nothing is created', async () => {
  const treasury = await foundTreasury();
  await post(treasury, 'payout-1');
  const other = await post(treasury, 'payout-1', { amount: '2000' });
  expect([other.status, other.body['code']]).toEqual([422, 'idempotency-key-reused']);
  expect((await listedIds(treasury)).length).toBe(1);
});

test('a key belongs to one person: another person can use an equal key for another transfer', async () => {
  const treasury = await foundTreasury();
  const hers = await post(treasury, 'payout-1');
  const his = await call('POST /transaction/transfer', {
    token: treasury.bob.token,
    body: payment(treasury),
    headers: { 'idempotency-key': 'payout-1' },
  });
  expect([his.status, his.body['id'] === hers.body['id']]).toEqual([201, false]);
});

test('a key belongs to the person and not to the token, because tokens are rotated between retries', async () => {
  const treasury = await foundTreasury();
  const first = await post(treasury, 'payout-1');
  const { token } = await anotherToken(treasury.alice);
  const headers = { 'idempotency-key': 'payout-1' };
  const second = await call('POST /transaction/transfer', { token, body: payment(treasury), headers });
  expect(second.body['id']).toBe(first.body['id']);
});

test('two equal requests without a key create two transfers', async () => {
  const treasury = await foundTreasury();
  const [first, second] = [await post(treasury, null), await post(treasury, null)];
  expect(second.body['id']).not.toBe(first.body['id']);
});

test('a refused request does not use up its key', async () => {
  const treasury = await foundTreasury();
  const refused = await post(treasury, 'payout-1', { chain: 'ethereum' });
  expect(refused.status).toBe(422);
  expect((await post(treasury, 'payout-1')).status).toBe(201);
});

/** Two vaults of the same people. */
async function twoTreasuries(): Promise<readonly [Treasury, Treasury]> {
  const first = await foundTreasury();
  const members = [first.alice, first.bob].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] }));
  const second = await foundTreasury({ name: 'Payroll', members });
  return [first, { ...second, alice: first.alice, bob: first.bob, victor: first.alice }];
}

test('a key that created in one vault is refused with another vault, until its day has passed', async () => {
  const [first, second] = await twoTreasuries();
  const startMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
  expect((await post(first, 'payout-1')).status).toBe(201);
  const other = await post(second, 'payout-1');
  expect([other.status, other.body['code']]).toEqual([422, 'idempotency-key-reused']);
  expect(await listedIds(second)).toEqual([]);
  expect((await post(first, 'payout-1')).headers.get('idempotency-replayed')).toBe('true');
  vi.setSystemTime(startMs + DAY_MS);
  expect((await post(second, 'payout-1')).status).toBe(201);
});

test('a key that one vault refused creates in another vault', async () => {
  const [first, second] = await twoTreasuries();
  expect((await post(first, 'payout-1', { chain: 'ethereum' })).status).toBe(422);
  expect((await post(second, 'payout-1')).status).toBe(201);
  // A vault that refuses the key as used keeps it.
  expect((await post(second, 'payout-1', { amount: '2000' })).status).toBe(422);
  expect((await post(first, 'payout-1')).status).toBe(422);
});

test.each(['', ' ', 'a b', 'x'.repeat(65), 'a;b', '"open', '""'])('the key %j is refused as invalid', async (key) => {
  const treasury = await foundTreasury();
  const answer = await post(treasury, key);
  expect([answer.status, answer.body['errors']?.[0]?.pointer]).toEqual([400, 'Idempotency-Key']);
  expect(await listedIds(treasury)).toEqual([]);
});

test('an external id is permanent: a second transfer with it is refused with the id of the first one', async () => {
  const treasury = await foundTreasury();
  const first = await post(treasury, null, { externalId: 'inv-7' });
  const second = await post(treasury, null, { externalId: 'inv-7' });
  expect([second.status, second.body['code'], second.body['transactionId']]).toEqual([
    409,
    'external-id-taken',
    first.body['id'],
  ]);
  const elsewhere = await foundTreasury();
  expect((await post(elsewhere, null, { externalId: 'inv-7' })).status).toBe(201);
});
