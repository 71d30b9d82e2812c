import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commonRefusals } from '#http/common-refusals.ts';
import type { Route } from '#http/edge/route.ts';
import { problemSchema, statusOf } from '#http/encode/problem.ts';
import { Client } from '#cli/api-client.ts';
import { UNLIMITED } from '#local/stack/configuration.ts';
import { createPerson, createReadyVault, ownToken } from '#local/stack/provision.ts';
import { startStack } from '#local/stack/stack.ts';
import { startFalseNode } from '../chains/false-node.ts';
import { generousAnswer } from '../chains/generous-node.ts';
import type { Received } from '../http/documented-answer.ts';
import { promiseFault } from '../http/documented-answer.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { bodies, FUZZED_ROUTES, optionalBodies } from './bodies.ts';
import type { Chance } from './garbage.ts';
import { oddText, pick, spoiled } from './garbage.ts';

/**
 * Sends valid, nearly valid and absurd requests to every endpoint of the route table. No answer may
 * be an undocumented 5xx, and each answer must match the schema of its route. No refusal may change
 * state: afterwards every transaction has exactly the version that the successful answers have
 * shown. REQUESTS and SEED may be set; an equal seed repeats the requests.
 */

const REQUESTS = Number.parseInt(process.env['REQUESTS'] ?? '20000', 10);
const SEED = Number.parseInt(process.env['SEED'] ?? String(Date.now() % 1_000_000), 10);
const PROMISED = { commonRefusals, problemSchema, statusOf };

interface World {
  readonly url: string;
  readonly vaultId: number;
  readonly strangeVaultId: number;
  readonly tokens: readonly string[];
  /** Tokens that a request may rename, rotate and delete. No signer uses them. */
  readonly spareIds: readonly string[];
  /** The newest version of each transaction in the successful answers. */
  readonly versions: Map<string, number>;
  readonly policyChangeIds: string[];
}

async function main(): Promise<void> {
  console.log(`${REQUESTS} requests, seed ${SEED}`);
  const chance = seededRandom(SEED);
  const folder = await mkdtemp(join(tmpdir(), 'conclave-fuzz-'));
  // Without an RPC node no payment is created.
  const node = await startFalseNode('');
  node.follow((method, params) => generousAnswer(method, params, 31_337n));
  const stack = await startStack({ folder, rpcUrls: { anvil: [node.url] }, rateLimits: UNLIMITED });
  try {
    const world = await build(new Client(stack.url, stack.serviceKey), stack.url);
    const statuses = new Map<number, number>();
    for (let i = 0; i < REQUESTS; i++) {
      const status = await requestOnce(chance, world);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    await compare(world);
    const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`);
    console.log(`${world.versions.size} transactions; ${counts.join(', ')}`);
    console.log('Every answer kept its promise, and no refusal changed anything.');
  } finally {
    await stack.stop();
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The policy requires three approvals and only two are given, so no transaction is signed. */
async function build(service: Client, url: string): Promise<World> {
  const [alice, bob, carol, mallory] = [
    await createPerson(service, url, 'alice'),
    await createPerson(service, url, 'bob'),
    await createPerson(service, url, 'carol'),
    await createPerson(service, url, 'mallory'),
  ];
  const options = { signers: [alice, bob, carol], threshold: 3, mostPending: 1_000_000 };
  const vault = await createReadyVault(service, { name: 'fuzzed', ...options });
  const strange = await createReadyVault(service, {
    name: 'strange',
    ...options,
    signers: [mallory, carol],
    threshold: 2,
  });
  const spare = await Promise.all(Array.from({ length: 5 }, () => ownToken(url, alice.cookie, { name: 'spare' })));
  return {
    url,
    vaultId: vault.id,
    strangeVaultId: strange.id,
    tokens: [alice.token, bob.token, mallory.token],
    spareIds: spare.map(({ id }) => id),
    versions: new Map(),
    policyChangeIds: [],
  };
}

async function requestOnce(chance: Chance, world: World): Promise<number> {
  const route = pick(chance, FUZZED_ROUTES);
  const path = pathFor(chance, world, route);
  const headers = headersFor(chance, world, route);
  const body = bodyFor(chance, world, route);
  const request = { method: route.method, headers, ...(body === null ? {} : { body }) };
  const response = await fetch(`${world.url}${path}`, request);
  const text = await response.text();
  const received: Received = {
    status: response.status,
    contentType: response.headers.get('content-type'),
    body: text === '' ? null : (JSON.parse(text) as unknown),
  };
  const shown = `${route.method} ${path.slice(0, 300)} ${JSON.stringify(body)?.slice(0, 1_000)}`;
  // A path with an empty part is a different path, so such requests are not sent.
  const isRoute = !path.split('?')[0]?.includes('//') && received.status !== 405;
  const fault = isRoute ? promiseFault(PROMISED, route, received) : null;
  if (fault !== null && !isOtherPath(received)) throw new Error(`${shown}\n${fault}`);
  // No RPC node answers here, and no cron runs, so endpoints refuse with their documented 503.
  const isDown = received.status >= 500 && !['chain-unavailable', 'not-ready'].includes(codeOf(received) ?? '');
  if (isDown) throw new Error(`${shown}\nanswered ${received.status}: ${text}`);
  // A replayed answer shows the record as it was at its creation.
  if (response.headers.get('idempotency-replayed') === null) learn(world, received);
  return received.status;
}

/** A slash or a question mark in a parameter would lead to another endpoint. */
function isOtherPath(received: Received): boolean {
  return received.status === 404 && codeOf(received) === 'not-found';
}

function codeOf({ body }: Received): string | undefined {
  return (body as { readonly code?: string } | null)?.code;
}

/** Records the version in a successful answer. A version only grows, by one at a time. */
function learn({ versions, policyChangeIds }: World, { status, body }: Received): void {
  if (status >= 300 || typeof body !== 'object' || body === null || !('id' in body)) return;
  const { id, version } = body as { readonly id: string | number; readonly version?: number };
  // The id of a vault is a number, and its record has no version.
  if (typeof id === 'number') return;
  if (id.startsWith('pch_')) policyChangeIds.push(id);
  if (version === undefined) return;
  const before = versions.get(id) ?? 0;
  if (version !== before && version !== before + 1) throw new Error(`${id} went from ${before} to ${version}`);
  versions.set(id, version);
}

async function compare({ url, versions, tokens, strangeVaultId }: World): Promise<void> {
  const [alice, stranger] = [new Client(url, tokens[0] ?? ''), new Client(url, tokens.at(-1) ?? '')];
  for (const [id, version] of versions) {
    const now = await (id.startsWith(`${strangeVaultId}.`) ? stranger : alice).read(id);
    if (now.version !== version) throw new Error(`${id} is at ${now.version}, and answers have shown ${version}`);
  }
}

function pathFor(chance: Chance, world: World, { path, query }: Route): string {
  const { versions, vaultId, strangeVaultId, spareIds } = world;
  const known = [...versions.keys()].slice(-50);
  const odd = () => encodeURIComponent(oddText(chance).toWellFormed().slice(0, 200)) || 'x';
  const values: Readonly<Record<string, () => string>> = {
    txId: () => pick(chance, [...known, `${strangeVaultId}.01J00000000000000000000000`]),
    vaultId: () => String(pick(chance, [vaultId, vaultId, strangeVaultId, 999_999])),
    id: () => pick(chance, [...spareIds, 'Z'.repeat(16)]),
    version: () => pick(chance, ['1', '2', '3']),
    changeId: () => pick(chance, [...world.policyChangeIds.slice(-20), 'pch_01J00000000000000000000000']),
  };
  const filled = path.replaceAll(/:([A-Za-z]+)/g, (_all, name: string) =>
    chance() < 0.15 ? odd() : (values[name]?.() ?? 'x'),
  );
  if (query === undefined || chance() < 0.4) return filled;
  const names = [
    'limit',
    'cursor',
    'state',
    'displayType',
    'chain',
    'direction',
    'visible',
    'createdAfter',
    'memo',
    'after',
    'x',
  ];
  const usual: Readonly<Record<string, string>> = { limit: '3', state: 'SUBMITTED', visible: 'all', chain: 'anvil' };
  const name = pick(chance, names);
  const value = chance() < 0.5 ? (usual[name] ?? '1') : oddText(chance).toWellFormed().slice(0, 200);
  return `${filled}?${name}=${encodeURIComponent(value)}`;
}

function headersFor(chance: Chance, { tokens }: World, { body, optionalBody }: Route): Record<string, string> {
  const token = chance() < 0.03 ? 'service_pat_nobody' : pick(chance, tokens);
  const type =
    chance() < 0.03 ? pick(chance, ['text/plain', 'application/xml', 'application/json; charset=latin1']) : '';
  return {
    ...(chance() < 0.02 ? {} : { authorization: `Bearer ${token}` }),
    ...((body ?? optionalBody) === undefined ? {} : { 'content-type': type === '' ? 'application/json' : type }),
    ...(chance() < 0.2
      ? { 'idempotency-key': pick(chance, ['key-1', 'key-2', '"key-3"', 'not ok!', 'x'.repeat(65)]) }
      : {}),
    ...(chance() < 0.1 ? { 'if-none-match': pick(chance, ['*', '"x"', 'W/"x", "y"', '']) } : {}),
    ...(chance() < 0.05 ? { prefer: pick(chance, ['wait=0', 'wait=x', 'respond-async']) } : {}),
    ...(chance() < 0.1 ? { 'x-request-id': pick(chance, ['request-1234', 'short', 'with space in it']) } : {}),
  };
}

/** A valid body, which is corrupted in more than half of the requests. */
function bodyFor(chance: Chance, world: World, { method, path, body, optionalBody }: Route): string | null {
  if (optionalBody !== undefined) return chance() < 0.6 ? null : spoiled(chance, optionalBodies(chance, path));
  if (body === undefined) return method === 'GET' || chance() < 0.9 ? null : pick(chance, ['{}', '{"a":1}', '[]', ' ']);
  const whole = bodies(chance, world)[path];
  if (whole === undefined) throw new Error(`${path} has no body to begin with`);
  return spoiled(chance, whole);
}

try {
  await main();
} catch (error) {
  console.error(`seed ${SEED}: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
