import { afterAll, beforeAll, expect, test } from 'vitest';
import { pollUntil } from '#local/stack/poll.ts';
import { Browser } from './browser.ts';
import type { LoginWorld } from './login-world.ts';
import { comesBack as wayBack, startLoginWorld } from './login-world.ts';
import type { World } from './world.ts';

/** Covers logins at a real OpenID Connect issuer, with the requests that browsers make. */

let scene: LoginWorld;
let world: World;
let url: string;

beforeAll(async () => {
  scene = await startLoginWorld();
  ({ world, url } = scene);
});
afterAll(() => scene.end());

const SESSION = '__Host-session';
const ATTEMPT = '__Host-login';

const comesBack = (browser: Browser, name: string, to?: string) => wayBack(url, browser, { name, to });

async function logIn(browser: Browser, name: string, to?: string): Promise<Response> {
  await comesBack(browser, name, to);
  return browser.go(browser.url);
}

const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;

test('a known user gets a session, and continues to the requested page', async () => {
  const browser = new Browser();
  const answer = await logIn(browser, 'alice', '/user/me?from=login');
  expect([answer.status, browser.url]).toEqual([200, `${url}/user/me?from=login`]);
  expect(await answer.json()).toMatchObject({ name: 'alice', email: 'alice@example.com' });
  expect([browser.cookie(url, SESSION), browser.cookie(url, ATTEMPT)]).toEqual([
    expect.stringMatching(/^service_ses_/),
    undefined,
  ]);
});

test('a login never redirects to another site', async () => {
  for (const to of [
    'https://mallory.example/',
    '//mallory.example',
    '/\\mallory.example',
    'javascript:alert(1)',
    'user/me',
  ]) {
    const browser = new Browser();
    await comesBack(browser, 'alice', to);
    const answer = await browser.go(browser.url, () => true);
    expect([to, answer.status, answer.headers.get('location')]).toEqual([to, 302, '/']);
  }
});

test('an unknown user, and a user without a verified address, are refused', async () => {
  for (const name of ['dave', 'bob?']) {
    const browser = new Browser();
    const answer = await logIn(browser, name);
    expect([name, answer.status, await codeOf(answer)]).toEqual([name, 403, 'login-unknown']);
    expect(browser.cookie(url, SESSION)).toBeUndefined();
  }
});

test('the holder of a person’s old address cannot log in as that person, and a service key does not help at once', async () => {
  expect((await logIn(new Browser(), 'carol')).status).toBe(200);
  const other = await logIn(new Browser(), 'carol (new)');
  expect([other.status, await codeOf(other)]).toEqual([403, 'login-unknown']);
  const path = `/internal/user/${world.people().carol.id}`;
  expect((await world.service().request('DELETE', `${path}/identity`)).status).toBe(404);
  const requested = await world.service().request<{ readonly id: string }>('POST', `${path}/credential-reset`);
  expect(requested.status).toBe(201);
  const early = await world.service().request('POST', `${path}/credential-reset/${requested.body.id}/identity`);
  expect([early.status, early.body]).toMatchObject([409, { code: 'credential-reset-not-ready' }]);
  expect((await logIn(new Browser(), 'carol (new)')).status).toBe(403);
  expect((await logIn(new Browser(), 'carol')).status).toBe(200);
});

test('a login succeeds only in the browser that started it, only once, and only with the answer of the issuer', async () => {
  const mine = new Browser();
  await comesBack(mine, 'alice');
  const way = mine.url;
  // An attacker who sends the link to another user would otherwise log this user in as the attacker
  // (login CSRF).
  const theirs = new Browser();
  expect(await codeOf(await theirs.go(way))).toBe('login-refused');
  await comesBack(theirs, 'bob');
  expect(await codeOf(await theirs.go(way))).toBe('login-refused');
  expect(theirs.cookie(url, SESSION)).toBeUndefined();
  // The callback has another state, issuer or code, or an error.
  for (const [name, value] of [
    ['state', 'other'],
    ['iss', 'https://mallory.example'],
    ['code', 'other'],
    ['error', 'access_denied'],
  ] as const) {
    const browser = new Browser();
    await comesBack(browser, 'alice');
    const changed = new URL(browser.url);
    changed.searchParams.set(name, value);
    const answer = await browser.go(changed.href);
    expect([name, answer.status, await codeOf(answer)]).toEqual([name, 403, 'login-refused']);
    expect([browser.cookie(url, SESSION), browser.cookie(url, ATTEMPT)]).toEqual([undefined, undefined]);
  }
  // The code of alice is still valid in her browser, and is refused the second time.
  expect((await mine.go(way)).status).toBe(200);
  expect(await codeOf(await mine.go(way))).toBe('login-refused');
});

test('a code with another verifier is refused, so a stolen code cannot be used without the browser', async () => {
  const browser = new Browser();
  await comesBack(browser, 'alice');
  const kept = JSON.parse(Buffer.from(browser.cookie(url, ATTEMPT) ?? '', 'base64url').toString()) as object;
  for (const change of [{ verifier: 'x'.repeat(43) }, { nonce: 'other' }]) {
    const value = Buffer.from(JSON.stringify({ ...kept, ...change })).toString('base64url');
    const thief = new Browser();
    thief.setCookie(url, ATTEMPT, value);
    expect(await codeOf(await thief.go(browser.url))).toBe('login-refused');
  }
});

test('a logged-in user sees their vaults, with the addresses', async () => {
  const vault = await world.vault('treasury');
  const browser = new Browser();
  const mine = async () => {
    const { data } = (await (await logIn(browser, 'alice', '/session/vaults')).json()) as { data: unknown[] };
    return data.length === 0 ? null : data;
  };
  const roles = expect.arrayContaining(['signer']) as string[];
  const wallets = [{ chain: 'anvil', address: vault.address }];
  const { alice, bob, carol } = world.people();
  const members = [alice, bob, carol].map(({ id: userId }, i) => ({
    userId,
    name: ['alice', 'bob', 'carol'][i],
    hasNamesake: false,
  }));
  const entry = {
    id: vault.id,
    name: 'treasury',
    roles,
    threshold: 2,
    approvalMode: 'token',
    membership: 'accepted',
    namesakes: [],
    wallets,
    members,
  };
  expect(await pollUntil('vaults', mine, 10_000)).toEqual([entry]);
});

test('a logout everywhere ends every session of that person, and of no other user', async () => {
  const [here, there, bobs] = [new Browser(), new Browser(), new Browser()];
  await logIn(here, 'alice');
  await logIn(there, 'alice');
  await logIn(bobs, 'bob');
  expect((await here.command('DELETE', `${url}/sessions`)).status).toBe(204);
  expect(here.cookie(url, SESSION)).toBeUndefined();
  expect((await there.go(`${url}/user/me`)).status).toBe(401);
  expect((await bobs.go(`${url}/user/me`)).status).toBe(200);
  // A personal access token still works after the logout, because a token is not a session.
  expect((await world.people().alice.client.request('GET', '/user/me')).status).toBe(200);
  await logIn(here, 'alice');
  expect((await here.go(`${url}/user/me`)).status).toBe(200);
});

test('every login is refused while the issuer does not answer, and the response states the reason', async () => {
  await world.stack().stop();
  await world.restart({ login: { ...scene.issuer.login, issuer: 'http://127.0.0.1:9' } });
  ({ url } = world.stack());
  const answer = await new Browser().go(`${url}/login`);
  expect([answer.status, await codeOf(answer)]).toEqual([503, 'login-unavailable']);
  await world.stack().stop();
  await world.restart({ login: {} });
  ({ url } = world.stack());
  const broken = await new Browser().go(`${url}/login`);
  expect(broken.status).toBe(500);
});
