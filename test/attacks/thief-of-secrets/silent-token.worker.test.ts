/**
 * Attack: the thief of a session or of a token makes another token, rotates one, or uses a stolen
 *   one from an own address. The owner does not look at the list of tokens, and learns nothing.
 * Attacker: thief of secrets
 * Co-signers: 0
 * Finding: S5
 * Defence: the owner is notified of every new and every rotated token, and of the first use of a
 *   token from a new network. The inbox keeps it, also for an owner without a browser.
 */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { parseTokenId, parseUserId } from '#domain/id.ts';
import type { Person } from '../../http/scene.worker.ts';
import { call, coordinator, enter, login } from '../../http/scene.worker.ts';
import { consumed } from '../../worker/queue-batch.ts';
import { pushService, subscribed } from '../../worker/push-scene.worker.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const idOf = ({ token }: Pick<Person, 'token'>) => token.slice(12, 28);
const tokenObject = (id: string) => coordinator.ACCESS_TOKEN.getByName(`token:${id}`);

/** Delivers the open events of some tokens. */
async function sent(...tokens: readonly Pick<Person, 'token'>[]): Promise<void> {
  const messages = tokens.map((one) => ({ tokenId: idOf(one) }));
  expect(await consumed('conclave-notification', messages)).toEqual({ acked: messages.length, retried: 0 });
}

const from = (address: string) => ({ 'cf-connecting-ip': address });

async function inboxOf({ token }: Pick<Person, 'token'>): Promise<readonly unknown[]> {
  const { body } = await call('GET /user/me/notifications', { token });
  return body['data'].map(({ title, body: text }: Record<string, unknown>) => [title, text]);
}

test('the owner is notified of a new token and of a rotation, in the browser and in the inbox, once', async () => {
  const owner = await enter('owner');
  const browser = await subscribed(owner);
  const { read } = pushService();
  // The owner has just received the first token, so it is not reported.
  await sent(owner);
  const made = await call('POST /session/access-token', {
    headers: { cookie: await login(owner), origin: 'http://conclave.test' },
    body: { name: 'stolen', expiresAt: null },
  });
  expect(made.status).toBe(201);
  const stolen = { token: String(made.body['token']) };
  const rotated = await call(`POST /personal-access-token/${idOf(stolen)}/rotate`, {
    token: stolen.token,
    headers: from('203.0.113.9'),
  });
  expect(rotated.status).toBe(200);
  await sent(owner, stolen);
  await sent(owner, stolen);
  const titles = ['New access token', 'Access token rotated'];
  expect((await read(browser)).map(({ kind, title }) => [kind, title])).toEqual(titles.map((one) => ['account', one]));
  const texts = (await inboxOf(owner)).map((line) => String(line));
  expect(texts).toHaveLength(2);
  expect(texts.some((text) => text.includes('was rotated from 203.0.113.9.'))).toBe(true);
});

test('the owner is notified of the first use from a new network, and not of a use from a known one', async () => {
  const owner = await enter('owner');
  const use = async (address: string) => {
    expect((await call('GET /user/me', { token: owner.token, headers: from(address) })).status).toBe(200);
    await sent(owner);
  };
  for (const address of ['198.51.100.1', '198.51.100.77']) await use(address);
  const known = (await inboxOf(owner)).length;
  await use('203.0.113.9');
  const after = (await inboxOf(owner)).map((line) => String(line));
  expect([known, after.length]).toEqual([0, 1]);
  expect(after[0]).toContain('Access token used from a new address');
  expect(after[0]).toContain('from 203.0.113.9.');
  await use('203.0.113.10');
  expect(await inboxOf(owner)).toHaveLength(after.length);
});

test('a thief with many addresses neither floods the owner nor stays unseen', async () => {
  const owner = await enter('owner');
  for (let i = 1; i < 20; i++) {
    await call('GET /user/me', { token: owner.token, headers: from(`203.0.${i}.1`) });
  }
  const stored = await runInDurableObject(tokenObject(idOf(owner)), (_, { storage }) => storage.kv.get('ownerEvents'));
  expect(stored).toMatchObject({ noticedAtMs: Array.from({ length: 5 }, () => expect.any(Number)) });
  await sent(owner);
  expect((await inboxOf(owner)).map((line) => String(line)).join()).toContain('used from a new address');
});

test('a message that was lost is sent again, until the owner is notified', async () => {
  const owner = await enter('owner');
  const [id, userId] = [parseTokenId(idOf(owner)), parseUserId(owner.id)];
  if (id === null || userId === null) throw new Error('the ids must parse');
  const object = tokenObject(id);
  const messages: unknown[] = [];
  await runInDurableObject(object, async (instance) => {
    const queue = { send: async (message: unknown) => void messages.push(message) };
    Object.assign(instance, { env: { ...coordinator, NOTIFICATION_QUEUE: queue } });
    instance.rotate({ userId, tokenId: id, token: null }, new Uint8Array(32), null);
    await instance.alarm();
    await instance.alarm();
  });
  expect(messages.length).toBeGreaterThanOrEqual(2);
  expect(messages).toEqual(messages.map(() => ({ tokenId: id })));
  await sent(owner);
  expect(await object.openEvents()).toMatchObject({ events: [] });
  await runDurableObjectAlarm(object);
  expect(await runDurableObjectAlarm(object)).toBe(false);
});
