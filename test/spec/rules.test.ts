import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Answer } from '#cli/api-client.ts';
import { Client, unwrap } from '#cli/api-client.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { ownToken } from '#local/stack/provision.ts';
import { Browser } from '../e2e/browser.ts';
import type { LoginWorld } from '../e2e/login-world.ts';
import { comesBack, startLoginWorld } from '../e2e/login-world.ts';

/**
 * Covers parts 5, 7 and 8 of the specification, through the API and under the rate limits that it
 * names.
 */

let scene: LoginWorld;
let world: LoginWorld['world'];
let vault: ReadyVault;

beforeAll(async () => {
  scene = await startLoginWorld((url) => url, { rateLimits: {} });
  ({ world } = scene);
  vault = await world.vault('treasury');
});
afterAll(() => scene.end());

/**
 * Creates one more token for a person. Each test uses its own token, because each token has its own
 * rate limit. The person logs in again for it, because a session may create three tokens a minute.
 * All sessions of a person create nine, so the tests are shared among the people.
 */
async function issued(
  person: { readonly name: string },
  json: { name: string; expiresAt?: number } = { name: 'story' },
) {
  const browser = new Browser();
  await comesBack(scene.url, browser, person);
  await browser.go(browser.url);
  const cookie = `__Host-session=${browser.cookie(scene.url, '__Host-session') ?? ''}`;
  const made = await ownToken(scene.url, cookie, json);
  return { ...made, client: new Client(scene.url, made.token) };
}

const transfer = () => ({ vaultId: vault.id, chain: 'anvil', to: vault.address, amount: '1' });

async function statuses(count: number, request: () => Promise<Answer<unknown>>): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await request()).status);
  return seen;
}

describe('part 5: authentication', () => {
  test('method 1 is a personal access token', async () => {
    const { client } = await issued(world.people().alice);
    expect((await client.request('GET', '/user/me')).status).toBe(200);
  });

  test('method 3 is an internal service key, which external callers cannot use in place of a token', async () => {
    const { client } = await issued(world.people().alice);
    expect((await world.service().request('GET', `/internal/vault/${vault.id}`)).status).toBe(200);
    expect((await world.service().request('GET', '/user/me')).status).toBe(401);
    expect((await client.request('GET', `/internal/vault/${vault.id}`)).status).toBe(401);
  });

  test('rule 1: a token has the access and permissions of its user', async () => {
    const { alice, mallory } = world.people();
    const [hers, stranger] = [await issued(alice), await issued(mallory)];
    const { id } = await hers.client.transfer(transfer());
    expect((await hers.client.read(id)).id).toBe(id);
    await expect(stranger.client.read(id)).rejects.toMatchObject({ status: 403 });
  });

  test('rule 2: a token is sent as Authorization: Bearer', async () => {
    const { token } = await issued(world.people().alice);
    const me = (authorization: string) => fetch(`${world.stack().url}/user/me`, { headers: { authorization } });
    expect([(await me(`Bearer ${token}`)).status, (await me(token)).status]).toEqual([200, 401]);
  });

  test('rule 3: every value starts with service_pat_', async () => {
    expect((await issued(world.people().alice)).token).toMatch(/^service_pat_/);
  });

  test('rule 4: the value is shown at creation or rotation, and never again', async () => {
    const { id, token, client } = await issued(world.people().alice);
    const tokens = client.api['personal-access-token'];
    const shown = [await unwrap(tokens.$get()), await unwrap(tokens[':id'].$get({ param: { id } }))];
    expect(JSON.stringify(shown)).not.toContain(token.slice(28));
  });

  test('rules 5 and 6: after expiresAt, in Unix seconds, the next request finds the token disabled', async () => {
    const { alice } = world.people();
    // The token lives long enough for the first request on a busy machine.
    const expiresAt = Math.floor(Date.now() / 1000) + 8;
    const short = await issued(alice, { name: 'short', expiresAt });
    const other = await issued(alice);
    expect((await short.client.request('GET', '/user/me')).status).toBe(200);
    await pollUntil(
      'expiry',
      async () => ((await short.client.request('GET', '/user/me')).status === 401 ? true : null),
      60_000,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt * 1000);
    const param = { id: short.id };
    const read = await unwrap(other.client.api['personal-access-token'][':id'].$get({ param }));
    expect([read.enabled, read.expiresAt]).toEqual([false, expiresAt]);
  });

  // The end of the five minutes is tested in
  // test/http/personal-access-token/own-tokens.worker.test.ts, where the test sets the clock.
  test('rule 7: after rotation the old value stays valid for a time', async () => {
    const old = await issued(world.people().bob);
    const param = { id: old.id };
    const rotated = await unwrap(old.client.api['personal-access-token'][':id'].rotate.$post({ param }));
    const fresh = new Client(world.stack().url, rotated.token);
    expect((await old.client.request('GET', '/user/me')).status).toBe(200);
    expect((await fresh.request('GET', '/user/me')).status).toBe(200);
  });

  test('rule 8: a deleted token cannot be restored', async () => {
    const { bob } = world.people();
    const [gone, other] = [await issued(bob), await issued(bob)];
    expect((await other.client.request('DELETE', `/personal-access-token/${gone.id}`)).status).toBe(204);
    const path = `/personal-access-token/${gone.id}`;
    expect((await other.client.request('PATCH', path, { body: { enabled: true } })).status).toBe(404);
    expect((await other.client.request('POST', `${path}/rotate`)).status).toBe(404);
    expect((await gone.client.request('GET', '/user/me')).status).toBe(401);
  });

  test('rule 9: signers approve and reject with their own tokens', async () => {
    const { carol, bob } = world.people();
    const [hers, his] = [await issued(carol), await issued(bob)];
    const { id } = await hers.client.transfer(transfer());
    const after = await his.client.approve(id);
    expect(after.approvals.map(({ userId }) => userId)).toEqual([bob.id]);
    expect((await hers.client.reject(id)).rejection?.userId).toBe(carol.id);
  });
});

describe('part 7: errors', () => {
  test('a request with a missing or invalid token gets 401', async () => {
    const { url } = world.stack();
    expect((await fetch(`${url}/user/me`)).status).toBe(401);
    expect((await new Client(url, 'service_pat_nobody').request('GET', '/user/me')).status).toBe(401);
  });

  test('a request with a valid token without permission for the resource gets 403', async () => {
    const { client } = await issued(world.people().mallory);
    expect((await client.request('GET', `/vault/${vault.id}/transactions`)).status).toBe(403);
  });

  test('a request above the limit gets 429, with the seconds until the window resets', async () => {
    const { client } = await issued(world.people().mallory);
    const read = () => client.request('GET', `/vault/${vault.id}/transactions`);
    await statuses(20, read);
    const refused = await read();
    expect(refused.status).toBe(429);
    expect(Number.parseInt(refused.headers.get('retry-after') ?? '0', 10)).toBeGreaterThan(0);
  });
});

describe('part 8: limits, per 60 seconds', () => {
  const window = /^"[a-z-]+";q=(\d+);w=60$/;
  const quotaOf = (answer: Answer<unknown>) => window.exec(answer.headers.get('ratelimit-policy') ?? '')?.[1];

  test('20 read operations are allowed', async () => {
    const { client } = await issued(world.people().carol);
    const read = () => client.request('GET', `/vault/${vault.id}/transactions`);
    expect(quotaOf(await read())).toBe('20');
    expect(await statuses(20, read)).toEqual([...Array.from({ length: 19 }, () => 200), 429]);
  });

  test('10 write operations are allowed', async () => {
    const { client } = await issued(world.people().bob);
    const write = () => client.request('POST', '/transaction/transfer', { body: transfer() });
    expect(quotaOf(await write())).toBe('10');
    expect(await statuses(10, write)).toEqual([...Array.from({ length: 9 }, () => 201), 429]);
  });

  test('3 to 10 operations on tokens are allowed', async () => {
    const { client, id } = await issued(world.people().carol);
    const path = `/personal-access-token/${id}`;
    const quotas = [
      quotaOf(await client.request('GET', '/personal-access-token')),
      quotaOf(await client.request('GET', path)),
      quotaOf(await client.request('PATCH', path, { body: { name: 'x' } })),
      quotaOf(await client.request('POST', `${path}/rotate`)),
      quotaOf(await client.request('DELETE', path)),
    ];
    expect(quotas).toEqual(['10', '10', '5', '3', '3']);
  });

  test('300 reads of the user profile are allowed', async () => {
    const { client } = await issued(world.people().carol);
    expect(quotaOf(await client.request('GET', '/user/me'))).toBe('300');
    const all = await Promise.all(Array.from({ length: 305 }, () => client.request('GET', '/user/me')));
    expect(all.filter(({ status }) => status === 429)).toHaveLength(6);
  });
});
