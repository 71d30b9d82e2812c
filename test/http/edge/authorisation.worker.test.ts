import { beforeAll, expect, test, vi } from 'vitest';
import type { Person, Treasury } from '../scene.worker.ts';
import {
  REQUIRED_QUERIES,
  anotherToken,
  accept,
  withinLimits,
  call,
  asService,
  changePolicy,
  coordinator,
  created,
  enter,
  join,
  foundTreasury,
  RECIPIENT,
  stored,
  WALLET,
} from '../scene.worker.ts';
import type { Promises } from '../../worker/main.ts';

/**
 * Covers permissions: every route that a token opens, for every role and for users outside the
 * vault. The table states the rule independently of the service. A route without a row fails.
 */

type Role = 'viewer' | 'initiator' | 'signer' | 'admin';
const ROLES: readonly Role[] = ['viewer', 'initiator', 'signer', 'admin'];

/**
 * The callers that each route admits. A route of `oneself` admits every user, and a route of
 * `session` admits no token.
 */
const TABLE: Readonly<Record<string, readonly Role[] | 'oneself' | 'owner' | 'session'>> = {
  'POST /transaction/estimate-fee': ['initiator', 'signer'],
  'POST /transaction/transfer': ['initiator', 'signer'],
  'POST /transaction/message': ['initiator', 'signer'],
  'POST /transaction/contract-interaction': ['initiator', 'signer'],
  'POST /transaction/erc20-approve': ['initiator', 'signer'],
  'GET /transaction/:txId': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /transaction/:txId/challenge': ['signer'],
  'GET /transaction/:txId/simulation': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /transaction/:txId/approve': ['signer'],
  'POST /transaction/:txId/reject': ['signer'],
  'POST /transaction/:txId/cancel': ['admin'],
  'POST /transaction/:txId/speed-up': ['signer'],
  'POST /transaction/:txId/child-pays-for-parent': ['initiator', 'signer'],
  'PATCH /transaction/:txId/visibility': ['admin'],
  'GET /transaction/:txId/history': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/transactions': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/balances': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/feed': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/history': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/reprocess-incoming-transactions': ['initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/reprocess-report': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/reprocess-report/:reportId': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/consolidate': ['initiator', 'signer'],
  'GET /vault/:vaultId/utxos': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/utxos/lock': ['initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/utxos/unlock': ['initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/policy': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/policy-change': ['signer', 'admin'],
  'POST /vault/:vaultId/policy-comparison': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/policy/:version/renewal': ['signer', 'admin'],
  'GET /vault/:vaultId/policies': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/recovery-exports': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/policy-change': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/policy-change/:changeId': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/policy-change/:changeId/approve': ['signer'],
  'POST /vault/:vaultId/policy-change/:changeId/reject': ['signer'],
  'POST /vault/:vaultId/policy-change/:changeId/cancel': ['admin'],
  'GET /vault/:vaultId/credential-reset': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/credential-reset/:resetId/cancel': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/member': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /vault/:vaultId/member/:userId/credential': ['admin'],
  'POST /vault/:vaultId/member/:userId/disable': ['admin'],
  'POST /vault/:vaultId/member/:userId/enable': ['admin'],
  'DELETE /vault/:vaultId/member/:userId/credential/:id': ['admin'],
  'POST /vault/:vaultId/accept': ['viewer', 'initiator', 'signer', 'admin'],
  'POST /vault/:vaultId/decline': ['viewer', 'initiator', 'signer', 'admin'],
  'GET /personal-access-token': 'oneself',
  'GET /personal-access-token/:id': 'owner',
  'PATCH /personal-access-token/:id': 'owner',
  'POST /personal-access-token/:id/rotate': 'owner',
  'DELETE /personal-access-token/:id': 'owner',
  'GET /push-subscription': 'oneself',
  'POST /push-subscription': 'oneself',
  'DELETE /push-subscription/:subscriptionId': 'owner',
  'GET /user/me': 'oneself',
  'GET /user/me/credential-reset': 'oneself',
  'GET /user/me/pending': 'oneself',
  'GET /feed': 'oneself',
  'GET /vault': 'oneself',
  'GET /user/me/notifications': 'oneself',
  'POST /user/me/notifications/read': 'oneself',
  'GET /user/me/events': 'session',
  'POST /user/me/credential-reset/:resetId/cancel': 'owner',
  'GET /vault/:vaultId/events': 'session',
  'DELETE /session': 'session',
  'DELETE /sessions': 'session',
  'GET /session/vaults': 'session',
  'POST /session/access-token': 'session',
};

const TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';
/** The push subscription of a browser. The keys are the example of RFC 8291. */
const SUBSCRIPTION = {
  endpoint: 'https://push.test/of-everybody',
  keys: {
    p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
    auth: 'BTBZMqHH6r4Tts7J_aSIgg',
  },
};
const BODIES: Readonly<Record<string, object>> = {
  'POST /transaction/estimate-fee': { to: RECIPIENT, amount: '1' },
  'POST /transaction/transfer': { to: RECIPIENT, amount: '1' },
  'POST /transaction/message': { message: 'hello' },
  'POST /transaction/contract-interaction': { to: TOKEN, data: '0xd0e30db0', value: '0' },
  'POST /transaction/erc20-approve': { tokenAddress: TOKEN, spender: WALLET, amount: '1' },
  'PATCH /transaction/:txId/visibility': { visible: false },
  'POST /vault/:vaultId/consolidate': { chain: 'bitcoin-regtest', coins: 5 },
  'POST /vault/:vaultId/utxos/lock': { chain: 'bitcoin-regtest', txid: 'ab'.repeat(32), vout: 0 },
  'POST /vault/:vaultId/utxos/unlock': { chain: 'bitcoin-regtest', txid: 'ab'.repeat(32), vout: 0 },
  'POST /vault/:vaultId/policy-change': { threshold: 1 },
  'POST /vault/:vaultId/policy-comparison': { patch: { threshold: 1 } },
  'POST /session/access-token': { name: 'new' },
  'PATCH /personal-access-token/:id': { name: 'renamed' },
  'POST /push-subscription': SUBSCRIPTION,
  'POST /user/me/notifications/read': { until: '2026-11-29T10:00:00.000Z' },
};

interface World {
  readonly treasury: Treasury;
  readonly members: Readonly<Record<Role, Person>>;
  /** An admin who ends the pending policy changes between two requests. */
  readonly usher: Person;
  /** A viewer whom admins disable. */
  readonly target: Person;
  /** A member in all roles but signer, who has not accepted the vault. */
  readonly invited: Person;
  /** A signer of another vault. */
  readonly neighbour: Person;
  /** A user without a vault. */
  readonly stranger: Person;
}

let world: World;

beforeAll(async () => {
  const treasury = await foundTreasury({ threshold: 3 });
  const elsewhere = await foundTreasury();
  const members: Partial<Record<Role, Person>> = {};
  for (const role of ROLES) {
    const person = await enter(role);
    members[role] = person;
    if (role === 'signer') continue;
    await join(treasury, person, [role]);
  }
  const signers = [treasury.alice, treasury.bob, treasury.carol, members.signer];
  await changePolicy(treasury, { signers: signers.flatMap((person) => (person === undefined ? [] : [person.id])) });
  await accept(treasury.id, members.signer ?? treasury.alice);
  const invited = await enter('invited');
  const roles = ['viewer', 'initiator', 'admin'];
  await asService(`PUT /internal/vault/${treasury.id}/member/${invited.id}`, { roles });
  const usher = await enter('usher');
  await join(treasury, usher, ['admin']);
  const target = await enter('target');
  await join(treasury, target, ['viewer']);
  world = {
    treasury,
    usher,
    target,
    invited,
    members: members as Record<Role, Person>,
    neighbour: elsewhere.alice,
    stranger: await enter('eve'),
  };
});

const lines = Object.keys(TABLE);

/**
 * Sends one request of one person, with a token of this person, for a new transaction and a token
 * of alice.
 */
async function tried(line: string, person: Person) {
  const { treasury } = world;
  const { token } = await withinLimits(person);
  const owner = line.includes('/member/') ? world.target : treasury.alice;
  const spare = line.includes(':id') ? await anotherToken(owner) : null;
  const transaction = line.includes(':txId') ? await proposed(treasury) : null;
  const change = line.includes(':changeId') ? await requestedPolicy(treasury) : null;
  const subscription = line.includes(':subscriptionId') ? await subscribed(treasury.alice) : null;
  const of = line.startsWith('POST /user/me/') ? treasury.alice : treasury.bob;
  const reset = line.includes(':resetId') ? await asService(`POST /internal/user/${of.id}/credential-reset`) : null;
  const filled = line
    .replace(':txId', String(transaction?.body['id']))
    .replace(':resetId', String(reset?.body['id']))
    .replace(':vaultId', String(treasury.id))
    .replace(':userId', world.target.id)
    .replace(':changeId', change ?? '')
    .replace(':version', '2')
    .replace(':reportId', '1798761600000')
    .replace(':subscriptionId', subscription ?? '')
    .replace(':id', spare?.token.slice(12, 28) ?? '');
  const body = BODIES[line];
  const creates = line.startsWith('POST /transaction/') && !line.includes(':') && !line.endsWith('/verify');
  const position = creates ? { vaultId: treasury.id, chain: 'anvil' } : {};
  const query = REQUIRED_QUERIES[line] ?? '';
  return call(`${filled}${query}`, { token, ...(body === undefined ? {} : { body: { ...position, ...body } }) });
}

async function subscribed(person: Person): Promise<string> {
  const { token } = await withinLimits(person);
  const body = { ...SUBSCRIPTION, endpoint: `https://push.test/${person.id}` };
  return (await call('POST /push-subscription', { token, body })).body['id'];
}

let proposals = 0;

/** Proposes a policy change. Bob and carol propose in turn. */
async function proposed(treasury: Treasury) {
  proposals += 1;
  const creator = await withinLimits(proposals % 2 === 0 ? treasury.bob : treasury.carol);
  return created({ ...treasury, alice: creator });
}

/**
 * Returns a policy change without decisions. An equal request would return the pending change, so
 * the function ends that one first.
 */
async function requestedPolicy(treasury: Treasury): Promise<string> {
  const looking = await withinLimits(world.usher);
  const pending = await call(`GET /vault/${treasury.id}/policy-change`, { token: looking.token });
  for (const { id, state } of pending.body['policyChanges']) {
    const { token } = await withinLimits(world.usher);
    if (state === 'PENDING') await call(`POST /vault/${treasury.id}/policy-change/${id}/cancel`, { token });
  }
  const requested = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 1 });
  return requested.body['id'];
}

/** A header that is not a valid credential, and the code of the refusal. */
interface Void {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly code: string;
}

/** Returns the ended credentials of this person, and strings that were never a token. */
async function voids(person: Person): Promise<readonly Void[]> {
  const idOf = ({ token }: Person) => token.slice(12, 28);
  const manager = await anotherToken(person);
  const manage = (line: string, body?: object) =>
    call(line, { token: manager.token, ...(body === undefined ? {} : { body }) });
  const [disabled, deleted, rotated] = [
    await anotherToken(person),
    await anotherToken(person),
    await anotherToken(person),
  ];
  await manage(`PATCH /personal-access-token/${idOf(disabled)}`, { enabled: false });
  await manage(`DELETE /personal-access-token/${idOf(deleted)}`);
  // Two rotations end the first value at once.
  const second = await call(`POST /personal-access-token/${idOf(rotated)}/rotate`, { token: rotated.token });
  await call(`POST /personal-access-token/${idOf(rotated)}/rotate`, { token: second.body['token'] });
  const soon = Math.floor(Date.now() / 1000) + 60;
  const { token: expired } = await anotherToken(person, soon);
  vi.useFakeTimers({ toFake: ['Date'], now: (soon + 1) * 1000 });
  expect((await call('GET /user/me', { token: expired })).body['code']).toBe('token-expired');
  vi.useRealTimers();
  const { token } = manager;
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const last = token.endsWith('A') ? 'B' : 'A';
  return [
    { name: 'nothing', headers: {}, code: 'token-missing' },
    {
      name: 'a token in the cookie of a session',
      headers: { cookie: `__Host-session=${token}`, 'sec-fetch-site': 'same-origin' },
      code: 'session-invalid',
    },
    { name: 'the token under another scheme', headers: { authorization: `Basic ${token}` }, code: 'token-invalid' },
    { name: 'a service key', headers: bearer(coordinator.TEST_SERVICE_KEY), code: 'token-invalid' },
    { name: 'no token', headers: bearer('hello'), code: 'token-invalid' },
    { name: 'half a token', headers: bearer(token.slice(0, 40)), code: 'token-invalid' },
    { name: 'a forged token', headers: bearer(`${token.slice(0, -1)}${last}`), code: 'token-invalid' },
    { name: 'a disabled token', headers: bearer(disabled.token), code: 'token-disabled' },
    { name: 'an expired token', headers: bearer(expired), code: 'token-disabled' },
    { name: 'a deleted token', headers: bearer(deleted.token), code: 'token-invalid' },
    { name: 'a value that was rotated out', headers: bearer(rotated.token), code: 'token-invalid' },
  ];
}

/** The names of the credentials that are equal for every person. */
const OF_NO_PERSON = new Set(['nothing', 'a service key', 'no token', 'half a token']);

test('an invalid or ended credential opens no route', async () => {
  const { treasury, members, neighbour, stranger } = world;
  const transaction = await proposed(treasury);
  const change = await requestedPolicy(treasury);
  const before = await stored(treasury);
  const spare = await anotherToken(treasury.alice);
  let cells = 0;
  for (const [i, person] of [...Object.values(members), neighbour, stranger].entries()) {
    for (const { name, headers, code } of await voids(person)) {
      if (i > 0 && OF_NO_PERSON.has(name)) continue;
      for (const line of lines) {
        const filled = line
          .replace(':txId', transaction.body['id'])
          .replace(':vaultId', String(treasury.id))
          .replace(':changeId', change)
          .replace(':version', '2')
          .replace(':reportId', '1798761600000')
          .replace(':id', spare.token.slice(12, 28));
        const position =
          line.startsWith('POST /transaction/') && !line.includes(':') ? { vaultId: treasury.id, chain: 'anvil' } : {};
        const body = BODIES[line] === undefined ? {} : { body: { ...position, ...BODIES[line] } };
        // Each request has another address, because addresses with too many failures are blocked.
        const from = { 'cf-connecting-ip': `192.0.${i}.${cells % 250}` };
        const answer = await call(filled, { headers: { ...headers, ...from }, ...body });
        expect([line, name, answer.status, answer.body['code']]).toEqual([line, name, 401, code]);
        cells += 1;
      }
    }
  }
  expect(cells).toBe(lines.length * (6 * 7 + 4));
  expect(await stored(treasury)).toEqual(before);
});

test('every route that a token opens has a row in the table, and every row has a route', () => {
  const { ROUTES } = (globalThis as unknown as { promises: Promises }).promises;
  const opened = ROUTES.filter(({ access }) => access !== 'service' && access !== 'monitor' && access !== 'anyone');
  expect(opened.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(lines.toSorted());
});

// The time-out is long, because each row needs about fifty tokens for six people.
test.each(lines)('%s', async (line) => {
  const rule = TABLE[line] ?? [];
  for (const role of ROLES) {
    const answer = await tried(line, world.members[role]);
    if (rule === 'oneself') expect([role, answer.status < 300]).toEqual([role, true]);
    else if (rule === 'owner') expect([role, answer.status]).toEqual([role, 404]);
    else expect([role, answer.status === 403]).toEqual([role, !rule.includes(role)]);
    expect([role, answer.status === 401]).toEqual([role, false]);
  }
  for (const person of [world.neighbour, world.stranger]) {
    const expected =
      { oneself: line.endsWith('/read') ? 204 : line.startsWith('POST') ? 201 : 200, owner: 404 }[String(rule)] ?? 403;
    expect((await tried(line, person)).status).toBe(expected);
  }
  if (Array.isArray(rule) && !/\/(accept|decline)$/.test(line)) {
    const { status, body } = await tried(line, world.invited);
    expect([status, body['code']]).toEqual([403, 'vault-not-accepted']);
  }
  if (rule === 'owner') expect((await tried(line, world.treasury.alice)).status).toBeLessThan(300);
});
