import { expect, test } from 'vitest';
import { isPending, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import { pendingVaults } from '#store/vaults.ts';
import { connectTo, listenTo } from '../event-reader.worker.ts';
import type { Person } from '../scene.worker.ts';
import { anotherToken, asService, call, coordinator, created, foundTreasury, login } from '../scene.worker.ts';
import { decide, projected } from './pending-scene.worker.ts';

/**
 * Covers the stream of one person over all vaults: an event when something starts to wait, is
 * decided in part, or ends, and none for anything else.
 */

const STREAM = '/user/me/events';

const PENDING_STATES = TRANSACTION_STATES.filter(isPending);
const position = async ({ id }: Person) => (await pendingVaults(coordinator.DB, id, PENDING_STATES)).position;

test('the position changes with each decision on what waits, and with nothing else', async () => {
  const treasury = await foundTreasury({ threshold: 3 });
  const { alice, bob, carol, mallory } = treasury;
  const elsewhere = await foundTreasury();
  await projected(treasury);
  const seen = [await position(bob)];
  const stranger = await position(mallory);
  const changes = async (what: string, act: () => Promise<unknown>, count = 1) => {
    const known = new Set(seen);
    await act();
    await projected(treasury);
    seen.push(await position(bob));
    expect([what, new Set(seen).size]).toEqual([what, known.size + count]);
  };
  let id = '';
  let change = '';
  await changes('a payment', async () => (id = (await created(treasury)).body['id']));
  await changes('an approval', () => decide(carol, `/transaction/${id}/approve`));
  await changes('a second payment', async () => created({ ...treasury, alice: await anotherToken(alice) }));
  await changes('a rejection', () => decide(carol, `/transaction/${id}/reject`), 1);
  await changes('a policy change', async () => {
    const { token } = await anotherToken(alice);
    const body = { threshold: 2 };
    change = (await call(`POST /vault/${treasury.id}/policy-change`, { token, body })).body['id'];
  });
  await changes('its approval', () => decide(alice, `/vault/${treasury.id}/policy-change/${change}/approve`));
  await changes('a reset', () => asService(`POST /internal/user/${carol.id}/credential-reset`));
  await changes('nothing', async () => {}, 0);
  await changes('a payment of another vault', () => created(elsewhere), 0);
  expect(await position(mallory)).toBe(stranger);
});

test('a stream has an event after a change, and one that resumes has it at once', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  await projected(treasury);
  const stream = await listenTo(STREAM, { cookie });
  const start = stream.lastId();
  const { token } = await anotherToken(treasury.bob);
  const list = await call('GET /user/me/pending', { token });
  expect(list.body['position']).toBe(start);
  await created(treasury);
  await projected(treasury);
  const event = await stream.next();
  expect(event).toEqual({ event: 'pending', data: {}, id: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const resumed = await listenTo(STREAM, { cookie, lastEventId: start });
  expect(await resumed.next()).toEqual(event);
  const reloaded = await listenTo(`${STREAM}?after=${start}`, { cookie });
  expect(await reloaded.next()).toEqual(event);
  const current = await listenTo(`${STREAM}?after=${start}`, { cookie, lastEventId: event?.id ?? '' });
  expect(current.lastId()).toBe(event?.id);
});

test('a stream ends with its session, and refuses a position that is none', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  const stream = await listenTo(STREAM, { cookie });
  for (const refused of [
    await connectTo(STREAM, { cookie, lastEventId: 'x' }),
    await connectTo(`${STREAM}?after=x`, { cookie }),
  ]) {
    expect([refused.status, (await refused.json<{ code: string }>()).code]).toEqual([400, 'invalid-request']);
  }
  expect((await connectTo(STREAM, { cookie: '' })).status).toBe(401);
  const headers = { cookie, origin: 'http://conclave.test' };
  expect((await call('DELETE /session', { headers })).status).toBe(204);
  await created(treasury);
  await projected(treasury);
  expect(await stream.next()).toBeNull();
});
