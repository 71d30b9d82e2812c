import { expect, test } from 'vitest';
import { newBrowser } from '../../worker/push-service.ts';
import { anotherToken, call, coordinator, enter } from '../scene.worker.ts';

/** Covers push subscriptions: the browsers in which a person is notified. */

let browsers = 0;
const browser = () => newBrowser(`https://push.test/listed-${(browsers += 1)}`).subscription;

test('a browser subscribes, is listed without its keys, and unsubscribes', async () => {
  const { token } = await enter('alice');
  const entered = await call('POST /push-subscription', { token, body: { ...browser(), expirationTime: null } });
  expect(entered.status).toBe(201);
  const listed = await call('GET /push-subscription', { token });
  const { publicKey } = JSON.parse(coordinator.WEB_PUSH ?? '{}') as { publicKey: string };
  expect(listed.body).toEqual({ applicationServerKey: publicKey, subscriptions: [entered.body] });
  expect(Object.keys(entered.body).toSorted()).toEqual(['createdAt', 'id', 'service']);
  const line = `DELETE /push-subscription/${entered.body['id']}`;
  expect([(await call(line, { token })).status, (await call(line, { token })).status]).toEqual([204, 404]);
});

test('a repeated subscription of one browser is the same subscription, and belongs to the last person who subscribed', async () => {
  const [alice, bob] = [await enter('alice'), await enter('bob')];
  const body = browser();
  const first = await call('POST /push-subscription', { token: alice.token, body });
  const again = await call('POST /push-subscription', { token: alice.token, body });
  expect(again.body).toEqual(first.body);
  await call('POST /push-subscription', { token: bob.token, body });
  const lists = await Promise.all([alice, bob].map(({ token }) => call('GET /push-subscription', { token })));
  expect(lists.map((list) => list.body['subscriptions'].length)).toEqual([0, 1]);
});

test('a user cannot remove the browser of another user', async () => {
  const [alice, mallory] = [await enter('alice'), await enter('mallory')];
  const { body } = await call('POST /push-subscription', { token: alice.token, body: browser() });
  expect((await call(`DELETE /push-subscription/${body['id']}`, { token: mallory.token })).status).toBe(404);
  const listed = await call('GET /push-subscription', { token: alice.token });
  expect(listed.body['subscriptions']).toHaveLength(1);
});

test('a person has ten browsers at most', async () => {
  const person = await enter('alice');
  const statuses: number[] = [];
  for (let i = 0; i < 10; i++) {
    statuses.push((await call('POST /push-subscription', { token: person.token, body: browser() })).status);
  }
  expect(new Set(statuses)).toEqual(new Set([201]));
  const { token } = await anotherToken(person);
  const more = await call('POST /push-subscription', { token, body: browser() });
  expect([more.status, more.body['code']]).toEqual([409, 'too-many-push-subscriptions']);
  const other = await enter('bob');
  expect((await call('POST /push-subscription', { token: other.token, body: browser() })).status).toBe(201);
});

const good = newBrowser('https://push.test/good').subscription;
test.each<[string, unknown]>([
  ['an address inside', { ...good, endpoint: 'https://127.0.0.1/x' }],
  ['an address of an unknown push service', { ...good, endpoint: 'https://evil.example/x' }],
  ['an address without TLS', { ...good, endpoint: 'http://push.test/x' }],
  ['no address', { keys: good.keys }],
  ['half a key', { ...good, keys: { ...good.keys, p256dh: 'BAAA' } }],
  ['a compressed key', { ...good, keys: { ...good.keys, p256dh: `A${good.keys.p256dh.slice(1)}` } }],
  ['a short secret', { ...good, keys: { ...good.keys, auth: 'AAAA' } }],
  ['a field too many', { ...good, vapid: 1 }],
])('a subscription with %s is refused', async (_name, body) => {
  const { token } = await enter('alice');
  const answer = await call('POST /push-subscription', { token, body });
  expect([answer.status, answer.body['code']]).toEqual([400, 'invalid-request']);
});
