import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Answer, Treasury } from '../scene.worker.ts';
import { anotherToken, call, coordinator, created, foundTreasury, RECIPIENT } from '../scene.worker.ts';

/** A vault that the tests only read from. */
let quiet: Treasury;
beforeAll(async () => {
  quiet = await foundTreasury();
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function page(treasury: Treasury, query = ''): Promise<Answer> {
  const { token } = await anotherToken(treasury.victor);
  return call(`GET /vault/${treasury.id}/transactions${query}`, { token });
}

function idsOf({ body }: Answer): readonly string[] {
  return body['transactions'].map(({ id }: { id: string }) => id);
}

async function createMany(treasury: Treasury, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await created(treasury, { note: `number ${i}` })).body['id']);
  return ids;
}

test('a caller sees a new record at once, and the newest records come first', async () => {
  const treasury = await foundTreasury();
  const ids = await createMany(treasury, 3);
  expect(idsOf(await page(treasury))).toEqual(ids.toReversed());
  await call(`POST /transaction/${ids[0]}/reject`, { token: treasury.bob.token });
  const states = (await page(treasury)).body['transactions'].map(({ state }: { state: string }) => state);
  expect(states).toEqual(['SUBMITTED', 'SUBMITTED', 'REJECTED']);
});

test('a record in the list equals the record that is read alone', async () => {
  const treasury = await foundTreasury();
  const [id] = await createMany(treasury, 1);
  const alone = await call(`GET /transaction/${id}`, { token: treasury.victor.token });
  expect((await page(treasury)).body['transactions']).toEqual([alone.body]);
});

test('pages have neither gaps nor duplicates when new records arrive in between', async () => {
  const treasury = await foundTreasury();
  const ids = await createMany(treasury, 5);
  const first = await page(treasury, '?limit=2');
  await createMany(treasury, 1);
  const second = await page(treasury, `?limit=2&cursor=${encodeURIComponent(first.body['nextCursor'])}`);
  const third = await page(treasury, `?limit=2&cursor=${encodeURIComponent(second.body['nextCursor'])}`);
  expect([...idsOf(first), ...idsOf(second), ...idsOf(third)]).toEqual(ids.toReversed());
  expect(third.body['nextCursor']).toBeNull();
});

test('the list can be filtered', async () => {
  const treasury = await foundTreasury();
  const [first = '', second = ''] = await createMany(treasury, 2);
  await call(`POST /transaction/${first}/reject`, { token: treasury.bob.token });
  const between = new Date(Date.now() + 60_000).toISOString();
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['?state=REJECTED', [first]],
    ['?state=SUBMITTED', [second]],
    ['?state=FAILED', []],
    ['?chain=anvil', [second, first]],
    ['?chain=eip155:31337', [second, first]],
    ['?chain=ethereum', []],
    ['?direction=out', [second, first]],
    ['?direction=in', []],
    ['?displayType=SENT', [second, first]],
    ['?displayType=RECEIVED', []],
    ['?visible=false', []],
    ['?visible=all', [second, first]],
    [`?createdAfter=${between}`, []],
    [`?createdBefore=${between}`, [second, first]],
    ['?updatedAfter=2020-01-01T00:00:00Z', [second, first]],
  ];
  for (const [query, ids] of cases) expect([query, idsOf(await page(treasury, query))]).toEqual([query, ids]);
});

test('a payment is found by what its creator knows of it', async () => {
  const treasury = await foundTreasury();
  const other = `0x${'Ab'.repeat(20)}`;
  const first = (await created(treasury, { externalId: 'payout,7' })).body['id'];
  const second = (await created(treasury, { to: other.toLowerCase() })).body['id'];
  const approval = await call('POST /transaction/erc20-approve', {
    token: treasury.bob.token,
    body: {
      vaultId: treasury.id,
      chain: 'anvil',
      tokenAddress: `0x${'cd'.repeat(20)}`,
      spender: RECIPIENT,
      amount: '7',
    },
  });
  expect(approval.status).toBe(201);
  const third = approval.body['id'];
  await call(`POST /transaction/${second}/reject`, { token: treasury.bob.token });
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['?externalId=payout%2C7', [first]],
    ['?externalId=payout', []],
    ['?state=REJECTED,SUBMITTED', [third, second, first]],
    ['?state=REJECTED&state=FAILED', [second]],
    ['?chain=anvil,eip155:31337', [third, second, first]],
    ['?kind=erc20-approve,message', [third]],
    [`?createdBy=${treasury.bob.id}`, [third]],
    [`?createdBy=${treasury.bob.id},${treasury.alice.id}&order=oldest`, [first, second, third]],
    [`?counterparty=${other}`, [second]],
    [`?counterparty=${RECIPIENT},${other}`, [third, second, first]],
    [`?counterparty=${RECIPIENT.slice(0, -1)}`, []],
    [`?tokenAddress=0x${'CD'.repeat(20)}`, [third]],
    [`?txHash=0x${'12'.repeat(32)}`, []],
  ];
  for (const [query, ids] of cases) expect([query, idsOf(await page(treasury, query))]).toEqual([query, ids]);
  const oldest = await page(treasury, '?order=oldest&limit=2');
  const rest = await page(treasury, `?order=oldest&limit=2&cursor=${encodeURIComponent(oldest.body['nextCursor'])}`);
  expect([idsOf(oldest), idsOf(rest), rest.body['nextCursor']]).toEqual([[first, second], [third], null]);
});

test.each([
  ['?limit=0', 'limit'],
  ['?limit=101', 'limit'],
  ['?limit=-1', 'limit'],
  ['?limit=1e2', 'limit'],
  ['?state=PAID', 'state/0'],
  ['?state=FAILED,PAID', 'state/1'],
  ['?state=FAILED,FAILED', 'state'],
  [`?txHash=${'a,'.repeat(10)}b`, 'txHash'],
  ['?order=updated', 'order'],
  ['?externalId=a&externalId=b', 'externalId'],
  ['?chain=atlantis', 'chain'],
  ['?direction=up', 'direction/0'],
  ['?visible=yes', 'visible'],
  ['?createdAfter=yesterday', 'createdAfter'],
  ['?updatedAfter=2020-01-01', 'updatedAfter'],
  ['?cursor=abc', 'cursor'],
  ['?cursor=AAAA', 'cursor'],
  ['?page=2', 'page'],
  ['?__proto__=1', '__proto__'],
])('the query %s is refused with the name of its parameter', async (query, parameter) => {
  const answer = await page(quiet, query);
  expect([answer.status, answer.body['errors']?.[0]?.pointer.replace('/', '')]).toEqual([400, parameter]);
});

test('a cursor of another vault is refused', async () => {
  const [ours, theirs] = [await foundTreasury(), await foundTreasury()];
  await createMany(theirs, 2);
  const { body } = await page(theirs, '?limit=1');
  const answer = await page(ours, `?cursor=${encodeURIComponent(body['nextCursor'])}`);
  expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, 'cursor']);
});

test('only members see the list, and a missing vault gets the same response as a vault of others', async () => {
  const { token } = quiet.mallory;
  const foreign = await call(`GET /vault/${quiet.id}/transactions`, { token });
  const nowhere = await call('GET /vault/4242424242/transactions', { token });
  const shape = ({ status, body: { requestId: _requestId, ...rest } }: Answer) => ({ status, ...rest });
  expect(foreign.status).toBe(403);
  expect(shape(nowhere)).toEqual(shape(foreign));
});

test.each(['0', '-1', '01', '1.5', 'one', '99999999999999999999'])('the vault %s is refused as invalid', async (id) => {
  const answer = await call(`GET /vault/${id}/transactions`, { token: quiet.victor.token });
  expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, 'vaultId']);
});

test.each([
  ['no JSON', 'secret'],
  ['a record without a version', '{"kind":"transaction","note":"secret"}'],
  ['a record of a newer version', '{"v":2,"note":"secret"}'],
  ['a record without its fields', '{"v":1,"kind":"transaction","note":"secret"}'],
])('%s in the read model is left out of the list and logged, and the other records are listed', async (_what, text) => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const treasury = await foundTreasury();
  const ids = await createMany(treasury, 3);
  const [, broken = ''] = ids;
  expect(idsOf(await page(treasury))).toHaveLength(3);
  await coordinator.DB.prepare('UPDATE transactions SET record = ? WHERE id = ?').bind(text, broken).run();
  const [first, rest] = [await page(treasury, '?limit=2'), await page(treasury)];
  expect([first.status, idsOf(first), idsOf(rest)]).toEqual([200, [ids[2]], [ids[2], ids[0]]]);
  const next = await page(treasury, `?limit=2&cursor=${encodeURIComponent(first.body['nextCursor'])}`);
  expect(idsOf(next)).toEqual([ids[0]]);
  expect(said.mock.calls.join()).toMatch(
    new RegExp(`"state-unreadable",.*"vaultId":${treasury.id},"id":"${broken}"`, 'u'),
  );
  expect(said.mock.calls.join()).not.toContain('secret');
  // The vault object has the record.
  expect((await call(`GET /transaction/${broken}`, { token: treasury.victor.token })).status).toBe(200);
});
