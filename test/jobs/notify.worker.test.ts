import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId, parseVaultId } from '#domain/id.ts';
import { notify } from '#jobs/notify.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { OPERATOR, UNPRICED } from '../domain/cast.ts';
import type { Treasury } from '../http/scene.worker.ts';
import { call, asService, coordinator, created, foundTreasury, RECIPIENT, WALLET } from '../http/scene.worker.ts';
import { consumed } from '../worker/queue-batch.ts';
import type { Browser } from '../worker/push-service.ts';
import { base64url, bytesOf, decrypt, newBrowser } from '../worker/push-service.ts';
import { pushService, sentNotifications, subscribed } from '../worker/push-scene.worker.ts';

/** Covers which members get which notification in which browser, and push services that fail. */

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function vaultOf({ id }: Treasury) {
  const vaultId = parseVaultId(id);
  if (vaultId === null) throw new Error('the vault has a number');
  return vaultStub(coordinator, vaultId);
}

function idOf(text: unknown): TransactionId {
  const id = parseTransactionId(String(text));
  if (id === null) throw new Error('a record has an id');
  return id;
}

/** More than the dust that is hidden without a price. */
const PAID = 5_000_000_000n;

async function receives(treasury: Treasury, hash: string, units: bigint): Promise<TransactionId> {
  const parties = { from: RECIPIENT, to: WALLET, tokenAddress: null, tokenId: null };
  const movements = [{ uid: 'top', kind: 'native' as const, ...parties, amount: amountOf(units) }];
  const block = { number: '3', hash: '0xb3', confirmations: 1, isFinal: false };
  const seen = { hash, signer: RECIPIENT, fee: amountOf(1n), block, movements };
  await vaultOf(treasury).report({ type: 'recordActivity', chain: 'anvil', hash, seen, valuation: UNPRICED });
  const list = await call(`GET /vault/${treasury.id}/transactions?visible=all`, { token: treasury.alice.token });
  return idOf(list.body['transactions'].find(({ txHash }: { txHash: string }) => txHash === hash)?.id);
}

test('the simulated push service reads the example of RFC 8291, and no changed version of it', async () => {
  const [privateKey, auth] = [
    bytesOf('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
    bytesOf('BTBZMqHH6r4Tts7J_aSIgg'),
  ];
  const body = bytesOf(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
  expect(await decrypt({ privateKey, auth }, body)).toBe('When I grow up, I want to be a watermelon');
  const changed = body.map((byte, i) => (i === body.length - 1 ? byte ^ 1 : byte));
  expect(await decrypt({ privateKey, auth }, changed).catch(() => 'refused')).toBe('refused');
  expect(base64url(auth)).toBe('BTBZMqHH6r4Tts7J_aSIgg');
});

test('an incoming payment is sent to every browser of every member, and only these browsers can read it', async () => {
  const treasury = await foundTreasury();
  const [alice, alicesPhone, victor] = [
    await subscribed(treasury.alice),
    await subscribed(treasury.alice),
    await subscribed(treasury.victor),
  ];
  await subscribed(treasury.mallory);
  const { taken, read } = pushService();
  const id = await receives(treasury, '0xaa', 10n ** 18n);
  await notify(coordinator, vaultOf(treasury), [id]);
  const message = {
    kind: 'activity',
    title: 'Treasury: received',
    body: '1 ETH on anvil',
    transactionId: id,
    vaultId: treasury.id,
  };
  for (const browser of [alice, alicesPhone, victor]) expect(await read(browser)).toEqual([message]);
  expect([taken.length, new Set(taken.map(({ topic }) => topic)).size]).toEqual([3, 1]);
  await expect(
    decrypt(victor, taken.find(({ url }) => url === alice.subscription.endpoint)?.body ?? new Uint8Array()),
  ).rejects.toThrow();
  // The notification is sent once, so the repeated message sends nothing.
  await notify(coordinator, vaultOf(treasury), [id]);
  expect(taken).toHaveLength(3);
});

test('signers who must approve are notified, the creator is not, and every member is notified of the result', async () => {
  const treasury = await foundTreasury();
  const [alice, bob, victor] = [
    await subscribed(treasury.alice),
    await subscribed(treasury.bob),
    await subscribed(treasury.victor),
  ];
  const { read } = pushService();
  const { body } = await created(treasury);
  const id = idOf(body['id']);
  await notify(coordinator, vaultOf(treasury), [id]);
  expect((await read(bob)).map(({ kind }) => kind)).toEqual(['approval']);
  expect([await read(alice), await read(victor)]).toEqual([[], []]);
  for (const { token } of [treasury.alice, treasury.bob]) await call(`POST /transaction/${id}/approve`, { token });
  await vaultOf(treasury).report({
    type: 'recordEvent',
    id,
    event: { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null },
  });
  await notify(coordinator, vaultOf(treasury), [id]);
  expect((await read(victor)).map(({ title }) => title)).toEqual(['Treasury: failed']);
});

test('a removed browser is deleted, one whose push service fails is kept, and neither delays the others', async () => {
  const treasury = await foundTreasury();
  const [gone, busy, unreachable, fine] = [
    await subscribed(treasury.alice),
    await subscribed(treasury.alice),
    await subscribed(treasury.alice),
    await subscribed(treasury.bob),
  ];
  const { requests, read } = pushService((url) => {
    if (url === gone.subscription.endpoint) return 410;
    if (url === busy.subscription.endpoint) return 503;
    return url === unreachable.subscription.endpoint ? 'away' : 201;
  });
  const id = await receives(treasury, '0xab', PAID);
  await notify(coordinator, vaultOf(treasury), [id]);
  expect(await read(fine)).toHaveLength(1);
  const times = (browser: Browser) => requests.filter((url) => url === browser.subscription.endpoint).length;
  expect([times(gone), times(busy), times(unreachable), times(fine)]).toEqual([1, 2, 2, 1]);
  const left = await call('GET /push-subscription', { token: treasury.alice.token });
  expect(left.body['subscriptions']).toHaveLength(2);
  // The job is complete without these two browsers, so a second run does not retry them.
  await notify(coordinator, vaultOf(treasury), [id]);
  expect(times(busy)).toBe(2);
});

test('a record that is finished, hidden or an hour old notifies no member', async () => {
  const treasury = await foundTreasury();
  await subscribed(treasury.bob);
  const { requests } = pushService();
  const nothing = await receives(treasury, '0xac', 0n);
  const { body } = await created(treasury);
  await call(`POST /transaction/${body['id']}/reject`, { token: treasury.carol.token });
  const old = await receives(treasury, '0xad', PAID);
  for (const id of [nothing, idOf(body['id'])]) await notify(coordinator, vaultOf(treasury), [id]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61 * 60 * 1000 });
  await notify(coordinator, vaultOf(treasury), [old]);
  expect(requests).toEqual([]);
});

const changesOf = (treasury: Treasury, ids: readonly TransactionId[]) =>
  ids.map((transactionId) => ({ vaultId: treasury.id, transactionId, job: 'notify' }));

/** Returns an environment with a vault namespace and a database that count their calls. */
function counting() {
  const requests: string[] = [];
  const DB = {
    prepare: (query: string) => {
      requests.push('directory');
      return coordinator.DB.prepare(query);
    },
  };
  const VAULT = {
    getByName: (name: string) => {
      const stub = coordinator.VAULT.getByName(name) as unknown as VaultDoors;
      const record = (what: string) => requests.push(`${name} ${what}`);
      const doors: Pick<VaultDoors, 'work' | 'report'> = {
        work: (work) => {
          record('work');
          return stub.work(work);
        },
        report: (report) => {
          record('done');
          return stub.report(report);
        },
      };
      return doors;
    },
  };
  return { requests, env: { ...coordinator, DB, VAULT } as unknown as CoordinatorEnv };
}

test('all changes of one vault are sent together, each once, with one call to each source', async () => {
  const treasury = await foundTreasury();
  const bob = await subscribed(treasury.bob);
  const { read } = pushService();
  const ids: TransactionId[] = [];
  for (const hash of ['0xb1', '0xb2', '0xb3']) ids.push(await receives(treasury, hash, PAID));
  const dust = await receives(treasury, '0xb4', 0n);
  const { requests, env } = counting();
  const [first] = ids;
  const messages = changesOf(treasury, [...ids, ...(first === undefined ? [] : [first]), dust]);
  expect(await consumed('conclave-notification', messages, { env })).toEqual({ acked: 5, retried: 0 });
  const reported = (await read(bob)).map(({ transactionId }) => String(transactionId));
  expect(reported.toSorted()).toEqual(ids.toSorted());
  const name = `vault:${treasury.id}`;
  expect(requests).toEqual([`${name} work`, 'directory', `${name} done`]);
  // No notification is pending any more, not even for records that notify no member.
  expect(await vaultOf(treasury).work({ type: 'notificationWork', ids: [...ids, dust] })).toEqual([]);
});

test('a change that arrives during its delivery is sent again, and the others are not', async () => {
  const treasury = await foundTreasury();
  const vault = vaultOf(treasury);
  const received = await receives(treasury, '0xb5', PAID);
  const { body } = await created(treasury);
  const id = idOf(body['id']);
  const reported = await vault.work({ type: 'notificationWork', ids: [id, received] });
  for (const { token } of [treasury.alice, treasury.bob]) await call(`POST /transaction/${id}/approve`, { token });
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: null },
  });
  await vault.report({
    type: 'completeNotifications',
    delivered: reported.map(({ id: one, version }) => ({ id: one, version })),
  });
  const left = await vault.work({ type: 'notificationWork', ids: [id, received] });
  expect(left.map(({ id: one, notification }) => [one, notification.kind])).toEqual([[id, 'outcome']]);
});

test('browsers above the limit of one invocation are notified by the next message, each of them once', async () => {
  const treasury = await foundTreasury();
  const { id: user } = treasury.bob;
  const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
    INSERT INTO push_subscriptions (id, user_id, endpoint, p256dh, auth, created_at_ms)
    SELECT ?1 || i, ?1, 'https://push.test/' || ?1 || i, ?2, ?3, 0 FROM n`;
  const { keys: own } = newBrowser('https://push.test/many').subscription;
  await coordinator.DB.prepare(many).bind(user, own.p256dh, own.auth).run();
  const { requests } = pushService();
  const ids: TransactionId[] = [];
  for (const hash of ['0xb9', '0xba', '0xbb']) ids.push(await receives(treasury, hash, PAID));
  await notify(coordinator, vaultOf(treasury), ids);
  expect([requests.length, (await vaultOf(treasury).work({ type: 'notificationWork', ids })).length]).toEqual([300, 1]);
  await notify(coordinator, vaultOf(treasury), ids);
  expect([requests.length, (await vaultOf(treasury).work({ type: 'notificationWork', ids })).length]).toEqual([450, 0]);
});

test('no member is notified twice when the removal of a dead browser fails', async () => {
  const treasury = await foundTreasury();
  await subscribed(treasury.bob);
  const { requests } = pushService(() => 410);
  const id = await receives(treasury, '0xbc', PAID);
  const DB = {
    prepare: (query: string) => {
      if (query.startsWith('delete')) throw new Error('the database is away');
      return coordinator.DB.prepare(query);
    },
  };
  const env = { ...coordinator, DB } as unknown as CoordinatorEnv;
  await expect(notify(env, vaultOf(treasury), [id])).rejects.toThrow();
  await notify(coordinator, vaultOf(treasury), [id]);
  expect(requests).toHaveLength(1);
});

test('an unreachable vault does not delay the notifications of another vault', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const [unreachable, here] = [await foundTreasury(), await foundTreasury()];
  const [bob, other] = [await subscribed(here.bob), await subscribed(unreachable.bob)];
  const { read } = pushService();
  const messages = [
    ...changesOf(unreachable, [await receives(unreachable, '0xb6', PAID), await receives(unreachable, '0xb7', PAID)]),
    ...changesOf(here, [await receives(here, '0xb8', PAID)]),
  ];
  const getByName = (name: string) => {
    if (name === `vault:${unreachable.id}`) throw new Error('it is away');
    return coordinator.VAULT.getByName(name);
  };
  const env = { ...coordinator, VAULT: { getByName } } as unknown as CoordinatorEnv;
  expect(await consumed('conclave-notification', messages, { env })).toEqual({ acked: 1, retried: 2 });
  expect([(await read(bob)).length, (await read(other)).length]).toEqual([1, 0]);
  // Messages that failed together are retried one by one.
  const counted = counting();
  const again = { env: counted.env, attempts: 2 };
  expect(await consumed('conclave-notification', messages, again)).toEqual({ acked: 3, retried: 0 });
  expect(counted.requests.filter((one) => one === `vault:${unreachable.id} work`)).toHaveLength(2);
  expect([(await read(bob)).length, (await read(other)).length]).toEqual([1, 2]);
  said.mockRestore();
});

test('a push service that is no longer configured is not called, and its subscription is deleted', async () => {
  const treasury = await foundTreasury();
  await subscribed(treasury.bob);
  const { requests } = pushService();
  const id = await receives(treasury, '0xae', PAID);
  const { services: _services, ...settings } = JSON.parse(coordinator.WEB_PUSH ?? '{}') as Record<string, unknown>;
  const env = { ...coordinator, WEB_PUSH: JSON.stringify(settings) };
  await notify(env, vaultOf(treasury), [id]);
  const left = await call('GET /push-subscription', { token: treasury.bob.token });
  expect([requests, left.body['subscriptions']]).toEqual([[], []]);
});

test('without a push configuration no push service is called, and no job fails', async () => {
  const treasury = await foundTreasury();
  await subscribed(treasury.bob);
  const { requests } = pushService();
  const id = await receives(treasury, '0xaf', PAID);
  await notify({ ...coordinator, WEB_PUSH: '' }, vaultOf(treasury), [id]);
  expect(requests).toEqual([]);
});

test('a recovery export is in the history and notifies every member, even if it ended in a crash', async () => {
  const treasury = await foundTreasury();
  const [alice, victor] = [await subscribed(treasury.alice), await subscribed(treasury.victor)];
  await subscribed(treasury.mallory);
  const { taken, read } = pushService();
  const path = `/internal/vault/${treasury.id}/recovery`;
  // A GET request changes nothing, and a member may not export.
  expect((await asService(`GET ${path}`)).status).toBe(405);
  expect((await call(`POST ${path}`, { token: treasury.alice.token })).status).toBe(401);
  expect((await asService('POST /internal/vault/999999/recovery')).status).toBe(404);
  expect(await asService(`POST ${path}`)).toMatchObject({ status: 200, body: { packages: [], missing: [] } });
  const vault = vaultOf(treasury);
  const keyId = 'a'.repeat(26);
  // The process ended after the request was written, so no record shows what the co-signers
  // returned.
  await vault.execute(OPERATOR, {
    type: 'recordExport',
    keys: [{ keyId, givenBy: null }],
  });
  const { body } = await call(`GET /vault/${treasury.id}/history`, { token: treasury.victor.token });
  const lines = body['history'].filter(({ action }: { action: string }) => action.startsWith('recovery-'));
  expect(lines).toMatchObject([
    {
      action: 'recovery-export',
      detail: keyId,
      actor: null,
      reason: expect.stringMatching(/^service-key [0-9a-f]{8}/),
    },
    { action: 'recovery-exported', detail: `${keyId} `, actor: null },
    { action: 'recovery-export', detail: keyId, reason: 'service-key 00000000' },
  ]);
  await sentNotifications(treasury);
  const notice = { kind: 'vault', title: 'Treasury: recovery packages requested', vaultId: treasury.id };
  for (const browser of [alice, victor]) expect(await read(browser)).toMatchObject([notice, notice]);
  expect(taken).toHaveLength(4);
  await sentNotifications(treasury);
  expect(taken).toHaveLength(4);
});
