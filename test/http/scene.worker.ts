import { env, exports } from 'cloudflare:workers';
import { createExecutionContext, runInDurableObject } from 'cloudflare:test';
import { expect } from 'vitest';
import type { Promises } from '../worker/main.ts';
import { expectDocumented } from './documented.worker.ts';
import { RATE_LIMIT_POLICIES } from '#domain/access/rate-limit.ts';
import type { TokenGrant } from '#domain/access/token-grant.ts';
import { WHOLE_GRANT } from '#domain/access/token-grant.ts';
import type { UserId } from '#domain/id.ts';
import { parseKeyId, parseTokenId, parseUserId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { vaultOf } from '../objects/vault/vault-of.ts';

const bindings = env as unknown as CoordinatorEnv & {
  readonly TEST_SERVICE_KEY: string;
  readonly TEST_FEED_CHANGES: string;
};

const SHIELD: RateLimit = {
  limit: async (options) =>
    options.key.startsWith('service-key:') ? { success: true } : bindings.SHIELD.limit(options),
};

/**
 * The bindings of the tests, also those that a test changes. All files use one service key, so
 * together they would exceed its limit: their requests with a service key are not counted.
 */
export const coordinator = new Proxy(bindings, {
  get: (target, name) => (name === 'SHIELD' ? SHIELD : (Reflect.get(target, name) as unknown)),
});

/** The settings of a service that has no RPC node. */
export const WITHOUT_NODES: CoordinatorEnv = { ...coordinator, RPC_URLS: '{}' };

export const WALLET = '0x1111111111111111111111111111111111111111';
export const RECIPIENT = '0x2222222222222222222222222222222222222222';

/**
 * The maximum time, in ms, that a test waits for effects after a response. The value is large for
 * slow machines.
 */
export const PATIENCE_MS = 20_000;

/** The parts of a response that the tests check. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert deep fields
  readonly body: Readonly<Record<string, any>>;
}

export interface RequestOptions {
  readonly token?: string | null;
  /** The body, sent as JSON. */
  readonly body?: unknown;
  /** The body, sent unchanged. */
  readonly raw?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** The bindings of this request, where they differ from those of the other tests. */
  readonly env?: CoordinatorEnv;
}

export interface Person {
  readonly id: string;
  readonly token: string;
}

/** Sends one request to the real Worker. */
export async function call(line: string, requested: RequestOptions = {}): Promise<Answer> {
  const { token, body, raw, headers, env: bound = coordinator } = requested;
  const [method = '', path = ''] = line.split(' ');
  const sent = raw ?? (body === undefined ? null : JSON.stringify(body));
  const { app } = await promises();
  const request = new Request(`http://conclave.test${path}`, {
    method,
    headers: {
      ...(token == null ? {} : { authorization: `Bearer ${token}` }),
      ...(sent === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === null ? {} : { body: sent }),
  });
  const response = await app.fetch(request, bound, createExecutionContext());
  const text = await response.text();
  const answer = {
    status: response.status,
    headers: response.headers,
    body: text === '' ? {} : bodyOf(response, text),
  };
  expectDocumented(line, answer);
  return answer;
}

export function asService(line: string, body?: unknown): Promise<Answer> {
  return call(line, { token: coordinator.TEST_SERVICE_KEY, ...(body === undefined ? {} : { body }) });
}

/** Every response has JSON, except the metrics. */
function bodyOf({ headers }: Response, text: string) {
  return headers.get('content-type')?.startsWith('text/plain') === true ? text : JSON.parse(text);
}

/**
 * Returns the functions that the entry of the Worker exports to the tests. The first request loads
 * the entry. Later requests do not use the `exports` of vitest, which become slower with each
 * request: the thousandth takes a tenth of a second.
 */
async function promises(): Promise<Promises> {
  const { default: entry } = exports as unknown as { default: Fetcher };
  const loaded = globalThis as unknown as { promises?: Promises };
  if (loaded.promises === undefined) await entry.fetch('http://conclave.test/health');
  if (loaded.promises === undefined) throw new Error('the entry of the tests exports no promises');
  return loaded.promises;
}

/** The query of each route that requires one. */
export const REQUIRED_QUERIES: Readonly<Record<string, string>> = {
  'GET /vault/:vaultId/recovery-exports': `?nonce=${'ab'.repeat(32)}`,
  'GET /vault/:vaultId/utxos': '?chain=bitcoin-regtest',
};

/** Returns the path of a route with parameters of the right form that name only the vault. */
export function unknownPath({ id }: Pick<Treasury, 'id'>, { path }: { readonly path: string }): string {
  const ulid = `01${'0'.repeat(24)}`;
  const values: Readonly<Record<string, string>> = {
    vaultId: String(id),
    txId: `${id}.${ulid}`,
    changeId: `pch_${ulid}`,
    resetId: `crs_${ulid}`,
    reportId: '1700000000000',
    id: '0'.repeat(16),
    version: '99',
  };
  return path.replaceAll(/:([A-Za-z]+)/g, (_all, name: string) => values[name] ?? '-');
}

let people = 0;

/** Creates a user with a token. The e-mail address is unique in this file. */
export async function enter(name: string, token: Readonly<Record<string, unknown>> = {}): Promise<Person> {
  people += 1;
  const user = await asService('POST /internal/user', { name, email: `${name}.${people}@example.com` });
  const issued = await asService(`POST /internal/user/${user.body['id']}/access-token`, { name: 'script', ...token });
  expect([user.status, issued.status]).toEqual([201, 201]);
  return { id: user.body['id'], token: issued.body['token'] };
}

/**
 * Creates another token of a person. A token has ten writes a minute, so tests of other features
 * use several tokens. The function stores the token as `POST /session/access-token` does, without
 * the limit of three a minute for a session.
 */
export async function anotherToken(
  person: Person,
  expiresAt: number | null = null,
  grant: Partial<TokenGrant> = {},
): Promise<Person> {
  const { newTokenId, newSecret, insertAccessToken } = await promises();
  const [user, id, secret] = [await profileOf(person), newTokenId(), newSecret('access-token')];
  const terms = { name: 'one more', expiresAt, madeIn: null };
  const token = { id, user, ...terms, secretHash: secret.hash, ...WHOLE_GRANT, ...grant };
  const made = await coordinator.ACCESS_TOKEN.getByName(`token:${id}`).create(token, false);
  await insertAccessToken(coordinator.DB, { id, userId: user.id, createdAtMs: made?.createdAtMs ?? 0 });
  await forgetBudgets(user.id);
  return { ...person, token: secret.valueFor(id, coordinator.TOKEN_MAC_KEY) };
}

/** Tokens of a person together have three times the limit of one: this forgets what they used. */
async function forgetBudgets(userId: UserId): Promise<void> {
  await runInDurableObject(coordinator.PERSON.getByName(`person:${userId}`), (_object, { storage }) => {
    for (const policy of RATE_LIMIT_POLICIES) storage.kv.delete(`budget:token:${policy}`);
  });
}

/** Sends one request as a person, with another token, so that the limits of one do not matter. */
export async function asPerson(person: Person, line: string, body?: object): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(line, { token, ...(body === undefined ? {} : { body }) });
}

/**
 * The number of uses of one token by `withinLimits`. The limit is ten writes a minute, which leaves
 * one write to the test.
 */
const USES = 9;
const spare = new Map<string, { readonly person: Person; uses: number }>();

/**
 * Returns the person with a token that is below its limits. The same token is returned nine times.
 */
export async function withinLimits(person: Person): Promise<Person> {
  const known = spare.get(person.id);
  const current = known === undefined || known.uses >= USES ? { person: await anotherToken(person), uses: 0 } : known;
  spare.set(person.id, current);
  current.uses += 1;
  return { ...person, token: current.person.token };
}

/** Creates a session of a person as the login callback does. Returns its cookie. */
export async function login(person: Person): Promise<string> {
  const { newTokenId, newSecret, insertSession } = await promises();
  const [user, id, secret] = [await profileOf(person), newTokenId(), newSecret('session')];
  await insertSession(coordinator.DB, { id, userId: user.id, createdAtMs: Date.now() });
  await coordinator.SESSION.getByName(`session:${id}`).create({ id, user, secretHash: secret.hash });
  return `__Host-session=${secret.valueFor(id, coordinator.TOKEN_MAC_KEY)}`;
}

async function profileOf({ id }: Person) {
  const { findUser } = await promises();
  const user = await findUser(coordinator.DB, id);
  if (user === null) throw new Error('a person of the scene is in the directory');
  return user;
}

/**
 * Accepts a vault as a new member, as `POST /vault/{vaultId}/accept` does, without a request that
 * the limits of a token would count. Returns the member.
 */
export async function accept<Member extends Pick<Person, 'id'>>(vaultId: number, person: Member): Promise<Member> {
  const [userId, tokenId] = [parseUserId(person.id), parseTokenId('0'.repeat(16))];
  if (userId === null || tokenId === null) throw new Error('the ids must parse');
  const actor = { userId, tokenId, address: null };
  const answered = await vaultOf(coordinator, vaultId).execute(actor, { type: 'answerInvitation', answer: 'accept' });
  expect(answered).toEqual({ ok: true, value: null });
  return person;
}

/** Adds a new person to a vault, as an operator does, and accepts the vault as this person. */
export async function join({ id }: Pick<Treasury, 'id'>, person: Person, roles: readonly string[]): Promise<Person> {
  expect((await asService(`PUT /internal/vault/${id}/member/${person.id}`, { roles })).status).toBe(200);
  return accept(id, person);
}

export interface Treasury {
  readonly id: number;
  readonly alice: Person;
  readonly bob: Person;
  readonly carol: Person;
  /** A viewer, who may neither create nor approve. */
  readonly victor: Person;
  /** A user without a vault. */
  readonly mallory: Person;
}

/** Creates a vault with a wallet that requires two approvals of alice, bob and carol. */
export async function foundTreasury(differences: Readonly<Record<string, unknown>> = {}): Promise<Treasury> {
  const [alice, bob, carol] = [await enter('alice'), await enter('bob'), await enter('carol')];
  const [victor, mallory] = [await enter('victor'), await enter('mallory')];
  const signers = [alice, bob, carol].map(({ id }) => ({ userId: id, roles: ['initiator', 'signer'] }));
  const opened = await asService('POST /internal/vault', {
    name: 'Treasury',
    members: [...signers, { userId: victor.id, roles: ['viewer'] }],
    threshold: 2,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
    ...differences,
  });
  expect([opened.status, opened.body['code'], opened.body['detail']]).toEqual([201, undefined, undefined]);
  const id: number = opened.body['id'];
  await recordKey(id, Object.fromEntries(opened.body['chains'].map((chain: string) => [chain, WALLET])));
  for (const { userId } of opened.body['members']) await accept(id, { id: userId });
  return { id, alice, bob, carol, victor, mallory };
}

/** Gives a vault its wallets, as the end of the key generation does. */
export async function recordKey(vaultId: number, addresses: Readonly<Record<string, string>>): Promise<void> {
  const keyId = parseKeyId('a'.repeat(26));
  if (keyId === null) throw new Error('the key id must parse');
  const key = { keyId, scheme: 'ecdsa-secp256k1', publicKey: '02', publicShares: {}, addresses } as const;
  await vaultOf(coordinator, vaultId).report({ type: 'recordKey', key });
}

/**
 * Changes the policy with as many approvals as it requires. Each request uses another token, so the
 * limits of the tokens in the test are not affected.
 */
export async function changePolicy(treasury: Treasury, patch: Readonly<Record<string, unknown>>): Promise<void> {
  const proposed = await asService(`POST /internal/vault/${treasury.id}/policy-change`, patch);
  expect(proposed.status).toBe(201);
  for (const person of [treasury.bob, treasury.carol, treasury.alice]) {
    const { token } = await anotherToken(person);
    const line = `POST /vault/${treasury.id}/policy-change/${proposed.body['id']}/approve`;
    const approved = await call(line, { token });
    // The approval of a signer whom the change removes does not count.
    if (approved.body['code'] === 'removed-by-change') continue;
    expect(approved.status).toBe(200);
    if (approved.body['state'] === 'ADOPTED') return;
  }
  throw new Error('three approvals did not change the policy');
}

/** Fills the slots of members for policy changes: five admins propose two changes each. */
export async function fillSlots(treasury: Treasury): Promise<void> {
  for (let n = 1; n <= 5; n++) {
    const { token } = await join(treasury, await enter('admin'), ['admin']);
    for (const units of [2 * n - 1, 2 * n]) {
      const body = { limits: [{ chain: 'anvil', perTransaction: String(units) }] };
      expect((await call(`POST /vault/${treasury.id}/policy-change`, { token, body })).status).toBe(201);
    }
  }
}

export function payment(treasury: Treasury, differences: Readonly<Record<string, unknown>> = {}) {
  return { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, amount: '1000', ...differences };
}

/** Creates a transfer as alice. Returns the response. */
export async function created(
  treasury: Treasury,
  differences: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const { token } = treasury.alice;
  const answer = await call('POST /transaction/transfer', { token, body: payment(treasury, differences) });
  expect(answer.status).toBe(201);
  return answer;
}

/**
 * Returns everything that the service has stored of a vault, which must not change when a request
 * is refused.
 */
export async function stored(treasury: Treasury): Promise<unknown> {
  // The list is read first, because a list request updates the read model.
  const list = await call(`GET /vault/${treasury.id}/transactions?visible=all`, { token: treasury.victor.token });
  const vault = await vaultOf(coordinator, treasury.id).work({ type: 'describeVault' });
  const { results } = await coordinator.DB.prepare('SELECT * FROM audit WHERE vault_id = ?').bind(treasury.id).all();
  return { audit: results.length, vault, transactions: list.body['transactions'] };
}
