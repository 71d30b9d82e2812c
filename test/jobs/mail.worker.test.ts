import { afterEach, expect, test, vi } from 'vitest';
import { notify } from '#jobs/notify.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { parsePolicyChangeId } from '#domain/id.ts';
import type { Treasury } from '../http/scene.worker.ts';
import { anotherToken, call, coordinator, foundTreasury } from '../http/scene.worker.ts';
import { vaultOf } from '../objects/vault/vault-of.ts';
import { subscribed } from '../worker/push-scene.worker.ts';

/** Covers e-mails to members without a subscribed browser: who gets which, and how many. */

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

const SETTINGS = { provider: 'cloudflare', from: 'conclave@example.com', dashboard: 'https://conclave.example.com/x' };

function mailing(differences: object = {}, settings: object = SETTINGS) {
  const sent: Message[] = [];
  const send = async (message: Message) => void sent.push(message);
  const env = { ...coordinator, EMAIL_NOTIFICATIONS: JSON.stringify(settings), EMAIL: { send }, ...differences };
  return { sent, env: env as unknown as CoordinatorEnv };
}

/** Proposes a change of the policy, and notifies the members. Returns the vault. */
async function proposed(treasury: Treasury, env: CoordinatorEnv, threshold: number): Promise<void> {
  const { token } = await anotherToken(treasury.alice);
  const { body } = await call(`POST /vault/${treasury.id}/policy-change`, { token, body: { threshold } });
  const id = parsePolicyChangeId(String(body['id']));
  if (id === null) throw new Error('a change has an id');
  await notify(env, vaultOf(coordinator, treasury.id), [id]);
}

async function emailOf(userId: string): Promise<string> {
  const row = await coordinator.DB.prepare('SELECT email FROM users WHERE id = ?')
    .bind(userId)
    .first<{ email: string }>();
  return row?.email ?? '';
}

test('members without a browser get an e-mail with a subject and a link, and members with a browser get none', async () => {
  vi.stubGlobal('fetch', async () => new Response(null, { status: 201 }));
  const treasury = await foundTreasury({ name: 'Secret name' });
  await subscribed(treasury.bob);
  const { sent, env } = mailing();
  await proposed(treasury, env, 3);
  const expected = await Promise.all([treasury.carol, treasury.victor].map(({ id }) => emailOf(id)));
  expect(new Set(sent.map(({ to }) => to))).toEqual(new Set(expected));
  expect(sent).toHaveLength(2);
  expect(sent[0]).toMatchObject({
    from: 'conclave@example.com',
    subject: 'Conclave: A policy change in one of your vaults',
    text: expect.stringContaining('Open your inbox: https://conclave.example.com/#/notifications'),
  });
  expect(JSON.stringify(sent)).not.toContain('Secret name');
});

test('a person gets one e-mail of a kind in ten minutes, whatever a thief causes, and another one later', async () => {
  const treasury = await foundTreasury();
  const { sent, env } = mailing();
  for (const threshold of [1, 3]) await proposed(treasury, env, threshold);
  expect(new Set(sent.map(({ to }) => to)).size).toBe(sent.length);
  const first = sent.length;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60 * 1000 + 1 });
  const later = await foundTreasury({ members: membersOf(treasury) });
  await proposed({ ...treasury, id: later.id }, env, 1);
  expect([first, sent.length]).toEqual([3, 6]);
});

function membersOf({ alice, bob, carol, victor }: Treasury) {
  const signers = [alice, bob, carol].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] }));
  return [...signers, { userId: victor.id, roles: ['viewer'] }];
}

test('an e-mail that fails is logged without an address, and holds nothing up', async () => {
  const logged: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line));
  const treasury = await foundTreasury();
  const { env } = mailing({ EMAIL: undefined });
  await proposed(treasury, env, 3);
  const lines = logged.filter((line) => line.includes('mail-failed'));
  expect(lines).toHaveLength(3);
  expect(lines.join()).not.toContain('@');
  const { token } = treasury.carol;
  expect((await call('GET /user/me/notifications', { token })).body['unread']).toBeGreaterThan(0);
});

test('Postmark gets the message in its form, and its refusal is logged with the status', async () => {
  const logged: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void logged.push(line));
  const requests: Request[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    requests.push(new Request(url, init));
    return new Response(null, { status: requests.length === 1 ? 200 : 422 });
  });
  const treasury = await foundTreasury();
  const { env } = mailing({ WEB_PUSH: '' }, { ...SETTINGS, provider: 'postmark', token: 'server-token' });
  await proposed(treasury, env, 3);
  const [first] = requests;
  expect([first?.url, first?.headers.get('x-postmark-server-token')]).toEqual([
    'https://api.postmarkapp.com/email',
    'server-token',
  ]);
  expect(await first?.json()).toMatchObject({ From: 'conclave@example.com', MessageStream: 'outbound' });
  expect(logged.filter((line) => line.includes('answered 422'))).toHaveLength(2);
  expect(logged.join()).not.toContain('server-token');
});
