import { runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { chainsFrom } from '#chains/families/registry.ts';
import type { Answer, Person, Treasury } from '../scene.worker.ts';
import { anotherToken, asService, call, coordinator, created, enter, foundTreasury } from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';
import { decide, projected } from './pending-scene.worker.ts';

/** Covers the list of what waits for the decision of one person over all vaults. */

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

type Item = Answer['body'];

async function pendingOf(person: Person, query = ''): Promise<Item> {
  const { token } = await anotherToken(person);
  const answer = await call(`GET /user/me/pending${query}`, { token });
  expect(answer.status).toBe(200);
  return answer.body;
}

const idsOf = ({ data }: Item): readonly string[] => data.map(({ id }: Item) => id);

/** Creates another vault with the people of this one, in which decisions take this many seconds. */
async function another(
  treasury: Treasury,
  decisionPeriodSeconds: number,
  differences: Readonly<Record<string, unknown>> = {},
): Promise<Treasury> {
  const { alice, bob, carol, victor, mallory } = treasury;
  const signers = [alice, bob, carol].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] }));
  const members = [...signers, { userId: victor.id, roles: ['viewer'] }];
  const { id } = await foundTreasury({ name: 'Second', members, decisionPeriodSeconds, ...differences });
  return { id, alice, bob, carol, victor, mallory };
}

async function proposedBy(treasury: Treasury, person: Person, patch: object): Promise<string> {
  const { token } = await anotherToken(person);
  const proposal = await call(`POST /vault/${treasury.id}/policy-change`, { token, body: patch });
  expect(proposal.status).toBe(201);
  return proposal.body['id'];
}

test('decisions of several vaults are listed by their deadlines, with whole transactions', async () => {
  const first = await foundTreasury();
  const second = await another(first, 600);
  const third = await another(first, 1_200);
  const late = (await created(first, { note: 'Rent' })).body['id'];
  const early = (await created(second)).body['id'];
  const change = await proposedBy(third, third.alice, { threshold: 3, note: 'Since the incident' });
  for (const vault of [first, second, third]) await projected(vault);
  await decide(first.alice, `/transaction/${early}/approve`);
  const { data, total, nextCursor, incompleteVaults } = await pendingOf(first.bob);
  expect(data).toMatchObject([
    { kind: 'transaction', id: early, vaultId: second.id, vaultName: 'Second', approvalsCounted: 1 },
    {
      kind: 'policy-change',
      id: change,
      vaultId: third.id,
      createdBy: first.alice.id,
      note: 'Since the incident',
      version: 2,
      renewsVersion: null,
      approvalsCounted: 0,
      requiredApprovals: 2,
    },
    { kind: 'transaction', id: late, vaultId: first.id, vaultName: 'Treasury', createdBy: first.alice.id },
  ]);
  expect([total, nextCursor, incompleteVaults]).toEqual([3, null, []]);
  const { token } = await anotherToken(first.bob);
  const record = await call(`GET /transaction/${late}`, { token });
  expect(data[2].transaction).toEqual(record.body);
  expect(data[2].deadline).toBe(record.body['expiresAt']);
});

test('a decision is gone from the list at once, for the one who made it', async () => {
  const treasury = await foundTreasury({ threshold: 3 });
  const id: string = (await created(treasury)).body['id'];
  const change = await proposedBy(treasury, treasury.alice, { threshold: 2 });
  await projected(treasury);
  expect(idsOf(await pendingOf(treasury.bob)).toSorted()).toEqual([id, change].toSorted());
  await decide(treasury.bob, `/transaction/${id}/approve`);
  expect(idsOf(await pendingOf(treasury.bob))).toEqual([change]);
  await decide(treasury.bob, `/vault/${treasury.id}/policy-change/${change}/approve`);
  expect(await pendingOf(treasury.bob)).toMatchObject({ data: [], total: 0 });
  expect(idsOf(await pendingOf(treasury.carol)).toSorted()).toEqual([id, change].toSorted());
  await decide(treasury.carol, `/transaction/${id}/reject`);
  expect(idsOf(await pendingOf(treasury.alice))).toEqual([change]);
});

test('a viewer, a user of another vault and a removed signer have nothing to decide', async () => {
  const treasury = await foundTreasury();
  const elsewhere = await foundTreasury();
  await created(treasury);
  await projected(treasury);
  for (const person of [treasury.victor, treasury.mallory, elsewhere.bob]) {
    expect(await pendingOf(person)).toMatchObject({ data: [], total: 0, incompleteVaults: [] });
  }
  const change = await proposedBy(treasury, treasury.alice, { signers: [treasury.alice.id, treasury.bob.id] });
  await projected(treasury);
  // Carol decides on the transaction, and not on the own removal.
  expect((await pendingOf(treasury.carol)).data).toMatchObject([{ kind: 'transaction' }]);
  for (const person of [treasury.alice, treasury.bob]) {
    await decide(person, `/vault/${treasury.id}/policy-change/${change}/approve`);
  }
  expect(await pendingOf(treasury.carol)).toMatchObject({ data: [], total: 0 });
});

test('the vault decides on the membership, whatever the directory lists', async () => {
  const treasury = await foundTreasury();
  await created(treasury);
  await projected(treasury);
  const insert = 'INSERT INTO members (vault_id, user_id) VALUES (?, ?)';
  await coordinator.DB.prepare(insert).bind(treasury.id, treasury.mallory.id).run();
  expect(await pendingOf(treasury.mallory)).toMatchObject({ data: [], total: 0, incompleteVaults: [] });
});

test('what has expired is not listed, even before the alarm has ended it', async () => {
  const treasury = await foundTreasury({ decisionPeriodSeconds: 600 });
  const second = await another(treasury, 1_200);
  const expired: string = (await created(treasury)).body['id'];
  const change = await proposedBy(treasury, treasury.alice, { threshold: 3 });
  const open: string = (await created(second)).body['id'];
  await projected(treasury);
  await projected(second);
  const { data } = await pendingOf(treasury.bob);
  expect(data.map(({ id }: Item) => id).toSorted()).toEqual([expired, change, open].toSorted());
  const deadlines = data.map(({ deadline }: Item) => Date.parse(deadline));
  vi.useFakeTimers({ toFake: ['Date'], now: deadlines[1] });
  expect(idsOf(await pendingOf(treasury.bob))).toEqual([open]);
});

test('pages continue after the cursor, and the total counts all of them', async () => {
  const treasury = await foundTreasury();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    ids.push((await created({ ...treasury, alice: await anotherToken(treasury.alice) })).body['id']);
  }
  await projected(treasury);
  const seen: string[] = [];
  let cursor = '';
  for (const size of [2, 2, 1]) {
    const page = await pendingOf(treasury.bob, `?limit=2${cursor}`);
    expect([page['data'].length, page['total']]).toEqual([size, 5]);
    seen.push(...idsOf(page));
    cursor = `&cursor=${encodeURIComponent(page['nextCursor'])}`;
  }
  expect(cursor).toBe('&cursor=null');
  expect(seen).toEqual(ids);
  const { token } = await anotherToken(treasury.bob);
  for (const query of ['limit=0', 'limit=51', 'limit=x', 'cursor=x', `cursor=${btoa('1 x')}`, 'state=DRAFT']) {
    const refused = await call(`GET /user/me/pending?${query}`, { token });
    expect([refused.status, refused.body['code']]).toEqual([400, 'invalid-request']);
  }
});

test('a pending payment has its value at the last known price, and an unpriced one has none', async () => {
  const treasury = await foundTreasury();
  const { chain } = (await created(treasury, { amount: '1500000000000000000' })).body;
  await projected(treasury);
  expect((await pendingOf(treasury.bob)).data).toMatchObject([{ usdValue: null, pricedAt: null }]);
  const caip2 = chainsFrom(coordinator).find(({ name }) => name === chain)?.caip2;
  const insert = 'INSERT INTO prices (asset, state, usd_e12, at_ms, asked_at_ms) VALUES (?, ?, ?, ?, ?)';
  const row = [caip2, 'known', (2_000n * 10n ** 12n).toString(), 1_000, 1_000];
  await coordinator.DB.prepare(insert)
    .bind(...row)
    .run();
  const [item] = (await pendingOf(treasury.bob)).data;
  expect([item.usdValue, item.pricedAt]).toEqual(['3000.00', '1970-01-01T00:00:01.000Z']);
  expect(item.transaction.usdValue).toBeNull();
});

test('a credential reset is listed for its person and for each member who can cancel it', async () => {
  const treasury = await foundTreasury();
  const second = await another(treasury, 600);
  const requested = await asService(`POST /internal/user/${treasury.bob.id}/credential-reset`);
  const { id } = requested.body;
  await projected(treasury);
  await projected(second);
  const about = { kind: 'credential-reset', id, deadline: requested.body['effectiveAt'] };
  expect(await pendingOf(treasury.bob)).toMatchObject({ data: [{ ...about, vaultId: null }], total: 1 });
  for (const person of [treasury.carol, treasury.victor]) {
    const { data, total } = await pendingOf(person);
    expect(data).toMatchObject([{ ...about, credentialReset: { userId: treasury.bob.id, state: 'PENDING' } }]);
    expect([total, [treasury.id, second.id].includes(data[0].vaultId)]).toEqual([1, true]);
  }
  await decide(treasury.victor, `/vault/${treasury.id}/credential-reset/${id}/cancel`);
  for (const person of [treasury.bob, treasury.carol, treasury.victor]) {
    expect(await pendingOf(person)).toMatchObject({ data: [], total: 0 });
  }
  // A member cancels one reset of a person within 90 days.
  const again = await asService(`POST /internal/user/${treasury.bob.id}/credential-reset`);
  await projected(treasury);
  expect(idsOf(await pendingOf(treasury.victor))).toEqual([]);
  expect(idsOf(await pendingOf(treasury.carol))).toEqual([again.body['id']]);
});

test('a vault with nothing pending is not opened, and one that never reported is', async () => {
  const treasury = await foundTreasury();
  const change = await proposedBy(treasury, treasury.alice, { threshold: 3 });
  await projected(treasury);
  const column = 'SELECT pending_changes AS n FROM vaults WHERE id = ?';
  const count = () => coordinator.DB.prepare(column).bind(treasury.id).first('n');
  expect(await count()).toBe(1);
  const set = 'UPDATE vaults SET pending_changes = ? WHERE id = ?';
  await coordinator.DB.prepare(set).bind(null, treasury.id).run();
  expect(idsOf(await pendingOf(treasury.bob))).toEqual([change]);
  await coordinator.DB.prepare(set).bind(0, treasury.id).run();
  expect(idsOf(await pendingOf(treasury.bob))).toEqual([]);
  await decide(treasury.alice, `/vault/${treasury.id}/policy-change/${change}/cancel`);
  await projected(treasury);
  expect(await count()).toBe(0);
});

test('a vault with an unreadable record is named, and its other records are listed', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const treasury = await foundTreasury();
  const second = await another(treasury, 600);
  const [broken, sound] = [(await created(treasury)).body['id'], (await created(treasury)).body['id']];
  const elsewhere = (await created(second)).body['id'];
  await projected(treasury);
  await projected(second);
  await runInDurableObject(vaultOf(coordinator, treasury.id), (_object, { storage }) => {
    storage.sql.exec("UPDATE tx SET document = json_set(document, '$.state', 'BROKEN') WHERE id = ?", broken);
  });
  expect(await pendingOf(treasury.bob)).toMatchObject({
    data: [{ id: elsewhere }, { id: sound }],
    total: 2,
    incompleteVaults: [treasury.id],
  });
  expect(said.mock.calls.join()).toContain('state-unreadable');
});

test('one read opens two hundred vaults at most, the newest, and names the others', async () => {
  const trent = await enter('trent');
  const first = 900_000;
  const numbers = `WITH RECURSIVE n(i) AS (SELECT ${first} UNION ALL SELECT i + 1 FROM n WHERE i < ${first + 201})`;
  const insert = `INSERT INTO members (vault_id, user_id) ${numbers} SELECT i, ? FROM n`;
  await coordinator.DB.prepare(insert).bind(trent.id).run();
  expect(await pendingOf(trent)).toEqual({
    data: [],
    nextCursor: null,
    total: 0,
    incompleteVaults: [first, first + 1],
    position: expect.any(String),
  });
});
