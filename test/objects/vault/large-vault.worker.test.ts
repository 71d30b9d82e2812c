import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterAll, expect, test } from 'vitest';
import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { mandateDigest, policyHashOf } from '#devices/policy-succession.ts';
import { withPolicy } from '#domain/vault/membership.ts';
import { parseKeyId } from '#domain/id.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { actor } from '../../domain/cast.ts';
import { approvalsOf, changeOf, devices, POLICIES, signers } from '../../domain/large-vault.ts';
import type { RequestOptions } from '../../http/scene.worker.ts';
import { accept, anotherToken, call, coordinator, login, RECIPIENT } from '../../http/scene.worker.ts';
import { vaultOf } from './vault-of.ts';

/**
 * Tests a vault of the largest size in the runtime: 50 signers, 100 devices, 50 chains and 1,000
 * policies. Each answer of its object and each row stays far below the limits of the platform.
 */

/**
 * A sixteenth of the 32 MiB that an answer can have: the largest policies are about 15 times as
 * long as those here, whose address book is empty and whose passkeys have short names.
 */
const MAX_RPC_LENGTH = 2 * 1024 * 1024;
/** A twentieth of the 2 MB that a row can have. */
const MAX_ROW_BYTES = 100_000;
/** The calls that a request can make on the free plan. */
const MAX_QUERIES = 50;

const chains = Array.from({ length: 50 }, (_, i) => ({
  ...BUILT_IN_CHAINS.find(({ name }) => name === 'anvil'),
  name: `chain-${i}`,
  caip2: `eip155:${91_000 + i}`,
}));
// The objects read this environment when they start. Test files share it.
const { CHAINS, RPC_URLS } = coordinator;
const nodes = chains.map(({ name, caip2 }) => [name, [`https://node-of-the-tests.test/${caip2.split(':')[1]}`]]);
Object.assign(env, { CHAINS: JSON.stringify(chains), RPC_URLS: JSON.stringify(Object.fromEntries(nodes)) });
afterAll(() => void Object.assign(env, { CHAINS, RPC_URLS }));

const measured = { rpc: new Map<string, number>(), queries: 0 };

/** Returns bindings that measure the answers of a vault and count the queries of D1. */
function measuring() {
  const vaults = {
    getByName: (name: string) => {
      const stub = coordinator.VAULT.getByName(name) as unknown as VaultStub;
      const length = (type: string, answer: unknown) => {
        const text = JSON.stringify(answer ?? null, (_, value: unknown) =>
          typeof value === 'bigint' ? value.toString() : value,
        );
        measured.rpc.set(type, Math.max(measured.rpc.get(type) ?? 0, text.length));
        return answer;
      };
      return {
        query: async (...given: Parameters<VaultStub['query']>) => length(given[1].type, await stub.query(...given)),
        work: async (...given: Parameters<VaultStub['work']>) => length(given[0].type, await stub.work(...given)),
        execute: async (...given: Parameters<VaultStub['execute']>) =>
          length(given[1].type, await stub.execute(...given)),
      };
    },
  };
  const DB = new Proxy(coordinator.DB, {
    get: (database, name) => {
      if (name === 'prepare') measured.queries += 1;
      const found: unknown = Reflect.get(database, name);
      return typeof found === 'function' ? found.bind(database) : found;
    },
  });
  return { ...coordinator, VAULT: vaults as unknown as DurableObjectNamespace, DB };
}

async function as(signer: number, line: string, options: RequestOptions = {}) {
  const { userId: id } = signers[signer] ?? { userId: '' };
  const { token } = await anotherToken({ id, token: '' });
  const answer = await call(line, { token, env: measuring(), ...options });
  expect([line, answer.status]).toEqual([line, line.startsWith('POST /transaction/transfer') ? 201 : 200]);
  return answer.body;
}

/** Creates the vault over HTTP, and records its key. Returns the number of the vault. */
async function createdVault(): Promise<number> {
  const insert = 'INSERT INTO users (id, name, email, created_at_ms) VALUES (?, ?, ?, 0)';
  for (const [i, { userId }] of signers.entries()) {
    await coordinator.DB.prepare(insert).bind(userId, `signer ${i}`, `signer.${i}@example.com`).run();
  }
  const opened = await call('POST /internal/vault', {
    token: coordinator.TEST_SERVICE_KEY,
    env: measuring(),
    body: {
      name: 'Treasury',
      members: signers.map(({ userId }) => ({ userId, roles: ['initiator', 'signer'] })),
      threshold: 2,
      approvalMode: 'token',
      initialState: 'SUBMITTED',
      chains: chains.map(({ name }) => name),
    },
  });
  expect(opened.status).toBe(201);
  for (const { userId } of signers) await accept(opened.body['id'], { id: userId });
  const keyId = parseKeyId('a'.repeat(26));
  if (keyId === null) throw new Error('the key id must parse');
  const publicKey = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
  const key = { keyId, scheme: 'ecdsa-secp256k1', publicKey, publicShares: {}, addresses: {} } as const;
  await vaultOf(coordinator, opened.body['id']).report({ type: 'recordKey', key });
  return opened.body['id'];
}

/** Returns the change that a policy ended as. */
function adoptedChange({ policy, mandate }: ReturnType<typeof changeOf>): PolicyChange {
  const decided = { decisionEndsAtMs: mandate.expiresAtMs, requiredApprovals: 2, updatedAtMs: mandate.createdAtMs };
  const digest = mandateDigest(mandate, policy);
  return { ...mandate, ...decided, digest, state: 'ADOPTED', rejections: [], createdBy: null };
}

/** Puts a thousand policies in force, as adoptions would have. The last one needs all signers. */
async function adopt(vaultId: number): Promise<void> {
  const stub = vaultOf(coordinator, vaultId);
  await runInDurableObject(stub, (_object, { storage: { sql } }) => {
    const storage = new VaultStorage(sql, false);
    const vault = storage.vault();
    if (vault === null) throw new Error('the vault exists');
    let { policy } = vault;
    while (policy.version < POLICIES) {
      const isFirst = policy.version === 1;
      const isLast = policy.version === POLICIES - 1;
      const patch = {
        ...(isFirst ? { devices, approvalMode: 'device' as const } : {}),
        ...(isLast ? { threshold: 50 } : {}),
      };
      const adopted = changeOf(policy, { patch });
      ({ policy } = adopted);
      storage.policies.adopt(adopted, policyHashOf(policy));
      storage.policies.putChange(adoptedChange(adopted), policyHashOf(policy));
    }
    storage.putVault(withPolicy(vault, policy));
  });
  await evictDurableObject(stub);
}

/** Reads all pages of a list. Returns the number of its entries. */
async function listed(path: string, field: string): Promise<number> {
  let [count, cursor]: [number, string | null] = [0, null];
  do {
    const page: Readonly<Record<string, unknown>> = await as(
      3,
      `GET ${path}${cursor === null ? '' : `?cursor=${cursor}`}`,
    );
    count += (page[field] as unknown[]).length;
    cursor = page['nextCursor'] as string | null;
  } while (cursor !== null);
  return count;
}

async function longestRows(vaultId: number): Promise<Readonly<Record<string, number>>> {
  const lengths: Record<string, number> = {};
  const longest = (table: string, column: string) =>
    `SELECT max(length(CAST(${column} AS BLOB))) AS bytes FROM ${table}`;
  await runInDurableObject(vaultOf(coordinator, vaultId), (_object, { storage: { sql } }) => {
    for (const table of ['vault', 'policy', 'policy_change', 'tx', 'history']) {
      lengths[table] = sql.exec<{ bytes: number }>(longest(table, 'document')).one().bytes;
    }
  });
  for (const [table, column] of [
    ['transactions', 'record'],
    ['audit', 'entry'],
  ] as const) {
    lengths[`D1 ${table}`] = (await coordinator.DB.prepare(longest(table, column)).first<number>('bytes')) ?? 0;
  }
  return lengths;
}

test('a vault with 50 signers, 100 devices, 50 chains and 1,000 policies stays far below the limits', async () => {
  const vaultId = await createdVault();
  expect(measured.queries).toBeLessThan(MAX_QUERIES);
  await adopt(vaultId);

  const described = await call(`GET /internal/vault/${vaultId}`, {
    token: coordinator.TEST_SERVICE_KEY,
    env: measuring(),
  });
  expect(described.body['wallets'].every(({ address }: { address: string | null }) => address !== null)).toBe(true);
  expect(described.body['policy']).toMatchObject({ version: POLICIES, threshold: 50 });
  const count = (table: string) =>
    coordinator.DB.prepare(`SELECT count(*) AS rows FROM ${table} WHERE vault_id = ?`).bind(vaultId).first('rows');
  expect([await count('wallets'), await count('members')]).toEqual([50, 50]);
  expect(await as(3, 'GET /user/me')).toMatchObject({ id: signers[3]?.userId });
  const cookie = await login({ id: signers[3]?.userId ?? '', token: '' });
  const own = await call('GET /session/vaults', { token: null, headers: { cookie }, env: measuring() });
  expect([own.body['data'][0].wallets.length, own.body['data'][0].members.length]).toEqual([50, 50]);

  const body = { vaultId, chain: 'chain-7', to: RECIPIENT, amount: '1000' };
  const { id } = await as(0, 'POST /transaction/transfer', { body });
  const { digest } = await as(0, `GET /transaction/${id}/challenge`);
  const states: string[] = [];
  for (const [i, { device }] of approvalsOf(digest, 50).entries()) {
    const signature = { keyId: device?.keyId, signature: device?.signature };
    states.push((await as(i, `POST /transaction/${id}/approve`, { body: signature }))['state']);
  }
  expect([states.at(-2), states.at(-1)]).toEqual(['SUBMITTED', 'SIGNING']);
  const object = measuring().VAULT.getByName(`vault:${vaultId}`) as unknown as VaultStub;
  // After the lines of the creation, the key and the acceptances.
  const changes = await object.query(actor(4), { type: 'nextChanges', after: 2 + signers.length, waitMs: 0 });
  expect(changes).toMatchObject({ ok: true, value: { transactions: [{ transaction: { id } }] } });

  expect(await listed(`/vault/${vaultId}/transactions`, 'transactions')).toBe(1);
  expect(await listed(`/vault/${vaultId}/balances`, 'balances')).toBe(50);
  expect(await listed(`/vault/${vaultId}/policies`, 'data')).toBe(POLICIES);
  expect(await listed(`/vault/${vaultId}/policy-change`, 'policyChanges')).toBe(POLICIES - 1);
  await object.work({ type: 'policiesAfter', version: 0 });

  const rows = await longestRows(vaultId);
  for (const [type, length] of measured.rpc) expect([type, length < MAX_RPC_LENGTH]).toEqual([type, true]);
  for (const [table, bytes] of Object.entries(rows)) expect([table, bytes < MAX_ROW_BYTES]).toEqual([table, true]);
});
