import { expect, test } from 'vitest';
import { parseUserId } from '#domain/id.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import type { Person, RequestOptions } from '../scene.worker.ts';
import { anotherToken, call, coordinator, created, enter, foundTreasury, login } from '../scene.worker.ts';

/** Covers a service with two approval pages, by the setting APPROVAL_ORIGIN. */

const [FIRST, SECOND] = ['https://vaults.example.com', 'https://approve.example.org'] as const;
const BOTH = `${FIRST} ${SECOND}`;

/** Sends a request of a person to a service with this setting. */
async function as(person: Person, line: string, setting: string, body?: RequestOptions['body']) {
  const { token } = await anotherToken(person);
  return call(line, {
    token,
    env: { ...coordinator, APPROVAL_ORIGIN: setting },
    ...(body === undefined ? {} : { body }),
  });
}

function passkeyOf({ id }: Person, origin: string) {
  const userId = parseUserId(id);
  if (userId === null) throw new Error('not a user');
  const authenticator = new Authenticator(userId, { rpId: new URL(origin).hostname, origin });
  const { algorithm, publicKey, credentialId, rpId } = authenticator.passkey;
  return { userId, algorithm, publicKey, credentialId, rpId, origin, proof: authenticator.proof() };
}

test('the passkeys of both pages are accepted, and a challenge warns of the page that is switched off', async () => {
  const treasury = await foundTreasury();
  const line = `POST /vault/${treasury.id}/policy-change`;
  const body = { addDevices: [passkeyOf(treasury.bob, FIRST), passkeyOf(treasury.bob, SECOND)] };
  for (const [setting, pointers] of [
    [FIRST, ['/addDevices/1/origin']],
    [SECOND, ['/addDevices/0/origin']],
    ['', ['/addDevices/0/origin', '/addDevices/1/origin']],
  ] as const) {
    const refused = await as(treasury.bob, line, setting, body);
    const errors = refused.body['errors'] as readonly { readonly pointer: string }[];
    expect([refused.status, errors.map(({ pointer }) => pointer)]).toEqual([400, pointers]);
  }
  const proposed = await as(treasury.bob, line, BOTH, body);
  expect(proposed.status).toBe(201);
  for (const name of ['alice', 'carol'] as const) {
    await as(treasury[name], `${line}/${proposed.body['id']}/approve`, BOTH);
  }
  const { id } = (await created(treasury)).body;
  const warningsUnder = async (setting: string) => {
    const answer = await as(treasury.bob, `GET /transaction/${id}/challenge`, setting);
    expect(answer.body['devices']).toHaveLength(2);
    return (answer.body['warnings'] as readonly { readonly code: string }[]).map(({ code }) => code);
  };
  expect(await warningsUnder(BOTH)).not.toContain('passkey-of-other-origin');
  expect(await warningsUnder(SECOND)).toContain('passkey-of-other-origin');
});

test('two pages on one host are refused before anything is stored', async () => {
  const treasury = await foundTreasury();
  const body = { addDevices: [passkeyOf(treasury.bob, FIRST)] };
  const line = `/vault/${treasury.id}/policy-change`;
  const refused = await as(treasury.bob, `POST ${line}`, `${FIRST} ${FIRST}:8443`, body);
  expect(refused.status).toBe(500);
  expect(JSON.stringify(refused.body)).not.toContain('8443');
  expect((await as(treasury.bob, `GET ${line}`, BOTH)).body['policyChanges']).toEqual([]);
});

test('the session lists the approval pages, the preferred one first', async () => {
  const cookie = await login(await enter('alice'));
  const pagesUnder = async (setting: string) => {
    const env = { ...coordinator, APPROVAL_ORIGIN: setting };
    const { body } = await call('GET /session/vaults', { token: null, headers: { cookie }, env });
    return [body['approvalOrigin'], body['approvalOrigins']];
  };
  expect(await pagesUnder('')).toEqual([null, []]);
  expect(await pagesUnder(FIRST)).toEqual([FIRST, [FIRST]]);
  expect(await pagesUnder(BOTH)).toEqual([FIRST, [FIRST, SECOND]]);
  expect(await pagesUnder(`${SECOND} ${FIRST}`)).toEqual([SECOND, [SECOND, FIRST]]);
});
