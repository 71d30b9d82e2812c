import { env } from 'cloudflare:workers';
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { parseAmount } from '#domain/asset/amount.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseKeyId, parseTransactionId, parseVaultId } from '#domain/id.ts';
import type { Role } from '#domain/access/member.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { HistoryEntry } from '#objects/vault/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/history.ts';
import type { PolicyPatch } from '#domain/policy/next-policy.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import type { VaultObject } from '#objects/vault/object.ts';
import { alice, bob, BY_TOKEN, carol, mallory, PREPARED, HASH, inclusion } from '../../domain/cast.ts';

const coordinator = env as unknown as CoordinatorEnv;
type VaultStub = DurableObjectStub<VaultObject>;

const WALLET = '0x1111111111111111111111111111111111111111';
const RECIPIENT = '0x2222222222222222222222222222222222222222';
const signer: readonly Role[] = ['signer'];

/** The tests of this file share the storage, so each test has its own vault. */
let lastVault = 1000;

afterEach(() => {
  vi.useRealTimers();
});

async function createdVault(differences: { initialState?: 'DRAFT' | 'SUBMITTED'; mostPending?: number } = {}) {
  lastVault += 1;
  const id = parseVaultId(lastVault);
  if (id === null) throw new Error('a test vault needs an id');
  const vault = coordinator.VAULT.getByName(`vault:${id}`);
  const opened = await vault.initialise({
    id,
    reference: `vault-${id}`,
    foundedAtMs: Date.now(),
    configuration: {
      name: 'Treasury',
      initialState: differences.initialState ?? 'SUBMITTED',
      decisionPeriodSeconds: 3600,
      mostPending: differences.mostPending ?? 100,
      chains: ['anvil'],
    },
    members: [alice, bob, carol].map(({ userId }) => ({ userId, roles: signer })),
    threshold: 2,
    ...BY_TOKEN,
    rules: NO_RULES,
  });
  expect(opened.ok).toBe(true);
  return { id, vault };
}

async function vaultWithWallet(differences: Parameters<typeof createdVault>[0] = {}) {
  const opened = await createdVault(differences);
  const keyId = parseKeyId('a'.repeat(26));
  if (keyId === null) throw new Error('the key id must parse');
  await opened.vault.recordKey({
    keyId,
    scheme: 'ecdsa-secp256k1',
    publicKey: '02',
    publicShares: {},
    addresses: { anvil: WALLET },
  });
  return opened;
}

/** Changes the policy with the required approvals. */
async function changePolicy(vault: VaultStub, patch: Omit<PolicyPatch, 'rules'> & Partial<PolicyPatch>): Promise<void> {
  const proposed = await vault.proposePolicy({ actor: alice, patch: { rules: {}, ...patch }, note: null });
  if (!proposed.ok) throw new Error(JSON.stringify(proposed.refusal));
  const { id } = proposed.value.change;
  for (const actor of [alice, bob])
    expect((await vault.decidePolicyChange(actor, id, { type: 'approve', device: null })).ok).toBe(true);
  expect(await vault.policyChange(alice, id)).toMatchObject({ value: { change: { state: 'ADOPTED' } } });
}

function transfer(differences: Partial<CreationRequest> = {}): CreationRequest {
  const amount = parseAmount('1000');
  if (amount === null) throw new Error('the amount must parse');
  return {
    chain: 'anvil',
    action: { kind: 'transfer', to: RECIPIENT, tokenAddress: null, amount },
    note: null,
    externalId: null,
    acceptLookalikeOf: null,
    speed: 'normal',
    idempotency: null,
    ...differences,
  };
}

async function created(vault: VaultStub, actor: Actor = alice, request: CreationRequest = transfer()) {
  const result = await vault.create(actor, request);
  if (!result.ok) throw new Error(result.refusal.code);
  return result.value.view.transaction;
}

async function stateOf(vault: VaultStub, id: TransactionId) {
  const result = await vault.read(alice, id);
  if (!result.ok) throw new Error(result.refusal.code);
  if ('activity' in result.value) throw new Error('the vault has made it');
  return result.value.transaction;
}

function rows<T>(vault: VaultStub, query: string): Promise<T[]> {
  return runInDurableObject(vault, (_object, state) => state.storage.sql.exec(query).toArray() as T[]);
}

test('a transfer requires two of three approvals, and the second one enqueues exactly one signature', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  expect((await vault.approve(alice, id)).ok).toBe(true);
  expect((await stateOf(vault, id)).state).toBe('SUBMITTED');
  expect((await vault.approve(bob, id)).ok).toBe(true);
  expect((await stateOf(vault, id)).state).toBe('SIGNING');
  expect(
    await rows(vault, `SELECT job FROM outbox WHERE tx_id = '${id}' AND job NOT IN ('project', 'notify')`),
  ).toEqual([{ job: 'sign' }]);
});

test('three simultaneous approvals enter SIGNING once', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  const answers = await Promise.all([alice, bob, carol].map((one) => vault.approve(one, id)));
  expect(answers.filter((answer) => answer.ok)).toHaveLength(2);
  const lines = await rows<{ document: string }>(vault, 'SELECT document FROM history ORDER BY seq');
  const entered = lines
    .map((line) => JSON.parse(line.document) as HistoryEntry)
    .filter((line) => line.to === 'SIGNING');
  expect(entered).toHaveLength(1);
});

test('of a simultaneous approval and rejection one wins, and a rejected transaction is never signed', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.approve(alice, id);
  const [approval, rejection] = await Promise.all([vault.approve(bob, id), vault.reject(carol, id)]);
  expect([approval.ok, rejection.ok].filter(Boolean)).toHaveLength(1);
  expect((await stateOf(vault, id)).state).toBe(approval.ok ? 'SIGNING' : 'REJECTED');
});

test('a repeated approval is answered and counts once', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.approve(alice, id);
  const again = await vault.approve(alice, id);
  expect(again).toMatchObject({ ok: true, value: { changed: false } });
  expect((await stateOf(vault, id)).approvals).toHaveLength(1);
});

test('an approval that is repeated after the decision gets its response again', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.approve(alice, id);
  await vault.approve(bob, id);
  expect(await vault.approve(bob, id)).toMatchObject({ ok: true, value: { changed: false } });
  const rejected = await created(vault);
  await vault.reject(carol, rejected.id);
  expect(await vault.reject(carol, rejected.id)).toMatchObject({ ok: true, value: { changed: false } });
  expect(await vault.reject(bob, rejected.id)).toMatchObject({
    ok: false,
    refusal: { code: 'transaction-not-pending', state: 'REJECTED' },
  });
});

test('a stranger gets the same response for this vault and for a missing one', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  const forbidden = { ok: false, refusal: { code: 'forbidden' } };
  const nowhere = coordinator.VAULT.getByName('vault:999999');
  for (const stub of [vault, nowhere]) {
    expect(await stub.create(mallory, transfer())).toEqual(forbidden);
    expect(await stub.read(mallory, id)).toEqual(forbidden);
    expect(await stub.challenge(mallory, id)).toEqual(forbidden);
    expect(await stub.approve(mallory, id)).toEqual(forbidden);
    expect(await stub.reject(mallory, id)).toEqual(forbidden);
    expect(await stub.flushProjection(mallory)).toEqual(forbidden);
  }
  expect(
    await rows(nowhere, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'"),
  ).toEqual([]);
});

test('a viewer can read, and can neither create nor approve', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.putMember(mallory.userId, ['viewer']);
  const forbidden = { ok: false, refusal: { code: 'forbidden' } };
  expect((await vault.read(mallory, id)).ok).toBe(true);
  expect(await vault.create(mallory, transfer())).toEqual(forbidden);
  expect(await vault.approve(mallory, id)).toEqual(forbidden);
  expect(await vault.reject(mallory, id)).toEqual(forbidden);
});

test('an unknown transaction inside a visible vault is not found', async () => {
  const { vault, id } = await vaultWithWallet();
  const unknown = parseTransactionId(`${id}.01ARZ3NDEKTSV4RRFFQ69G5FAV`);
  if (unknown === null) throw new Error('the id must parse');
  expect(await vault.read(alice, unknown)).toEqual({ ok: false, refusal: { code: 'transaction-not-found' } });
});

test('a repeated Idempotency-Key returns the same transaction, even after the object was evicted', async () => {
  const { vault } = await vaultWithWallet();
  const request = transfer({ idempotency: { key: 'payout-1', fingerprint: 'f1' } });
  const first = await created(vault, alice, request);
  await evictDurableObject(vault);
  const again = await vault.create(alice, request);
  expect(again).toMatchObject({ ok: true, value: { replayed: true, view: { transaction: { id: first.id } } } });
  const other = await vault.create(alice, { ...request, idempotency: { key: 'payout-1', fingerprint: 'f2' } });
  expect(other).toEqual({ ok: false, refusal: { code: 'idempotency-key-reused' } });
  const bobs = await vault.create(bob, request);
  expect(bobs).toMatchObject({ ok: true, value: { replayed: false } });
});

test('an external id is permanent', async () => {
  const { vault } = await vaultWithWallet();
  const first = await created(vault, alice, transfer({ externalId: 'invoice-7' }));
  expect(await vault.create(bob, transfer({ externalId: 'invoice-7' }))).toEqual({
    ok: false,
    refusal: { code: 'external-id-taken', transactionId: first.id },
  });
});

test('no transaction is created without a wallet, on a chain that is not enabled, or above the pending limit', async () => {
  const { vault: keyless } = await createdVault();
  expect(await keyless.create(alice, transfer())).toEqual({
    ok: false,
    refusal: { code: 'wallet-not-ready', chain: 'anvil' },
  });
  const { vault } = await vaultWithWallet({ mostPending: 1 });
  expect(await vault.create(alice, transfer({ chain: 'ethereum' }))).toEqual({
    ok: false,
    refusal: { code: 'chain-not-enabled', chain: 'ethereum' },
  });
  const { id } = await created(vault);
  expect(await vault.create(alice, transfer())).toEqual({
    ok: false,
    refusal: { code: 'too-many-pending', limit: 1 },
  });
  await vault.reject(bob, id);
  expect((await vault.create(alice, transfer())).ok).toBe(true);
});

test('the vault decides whether a transaction starts as DRAFT or SUBMITTED, and a draft can be decided too', async () => {
  const { vault } = await vaultWithWallet({ initialState: 'DRAFT' });
  const { id, state } = await created(vault);
  expect(state).toBe('DRAFT');
  await vault.approve(alice, id);
  await vault.approve(bob, id);
  expect((await stateOf(vault, id)).state).toBe('SIGNING');
});

test('a removed signer loses the approval in the same commit', async () => {
  const { vault } = await vaultWithWallet();
  const [one, two] = [await created(vault), await created(vault)];
  await vault.approve(carol, one.id);
  await vault.approve(carol, two.id);
  await changePolicy(vault, { signers: [alice.userId, bob.userId] });
  expect((await stateOf(vault, one.id)).approvals).toEqual([]);
  expect((await stateOf(vault, two.id)).approvals).toEqual([]);
  await changePolicy(vault, { signers: [alice.userId, bob.userId, carol.userId] });
  await vault.approve(alice, one.id);
  expect((await stateOf(vault, one.id)).state).toBe('SUBMITTED');
});

test('a refused policy change changes nothing', async () => {
  const { vault } = await vaultWithWallet();
  const before = await vault.describe();
  const tooHigh = { actor: alice, patch: { threshold: 4, rules: {} }, note: null };
  expect(await vault.proposePolicy(tooHigh)).toEqual({ ok: false, refusal: 'threshold-out-of-range' });
  expect(await vault.describe()).toEqual(before);
});

test('an undecided transaction expires by itself', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  expect(await vault.challenge(alice, id)).toMatchObject({
    ok: false,
    refusal: { code: 'transaction-not-pending', state: 'EXPIRED' },
  });
  expect(await vault.approve(alice, id)).toMatchObject({
    ok: false,
    refusal: { code: 'transaction-not-pending', state: 'EXPIRED' },
  });
  await runDurableObjectAlarm(vault);
  expect((await stateOf(vault, id)).state).toBe('EXPIRED');
});

test('the read model has everything that the vault has before a list is read, whatever D1 already contains', async () => {
  const { vault, id: vaultId } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.approve(alice, id);
  expect((await vault.flushProjection(alice)).ok).toBe(true);
  const read = () =>
    coordinator.DB.prepare('SELECT state, version, record FROM transactions WHERE id = ?')
      .bind(id)
      .first<{ state: string; version: number; record: string }>();
  expect(await read()).toMatchObject({ state: 'SUBMITTED', version: 2 });
  await vault.approve(bob, id);
  await vault.flushProjection(alice);
  const projected = await read();
  expect(projected).toMatchObject({ state: 'SIGNING', version: 3 });
  expect(projected?.record).not.toContain('payload');
  const audit = await coordinator.DB.prepare('SELECT count(*) AS n FROM audit WHERE vault_id = ?')
    .bind(vaultId)
    .first<{ n: number }>();
  expect(audit?.n).toBe((await rows(vault, 'SELECT seq FROM history')).length);
});

test('every version of every record has exactly one line in an immutable history', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.approve(alice, id);
  await vault.approve(bob, id);
  await vault.record(id, { type: 'prepare', attempt: PREPARED });
  await vault.record(id, { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH });
  await vault.record(id, { type: 'sign', attempt: 1, raw: '0x02ee', hash: '0xother' });
  await vault.record(id, { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  await vault.record(id, { type: 'include', inclusion: inclusion({ confirmations: 5 }), confirmationsNeeded: 2 });
  const lines = await rows<{ document: string; hash: string }>(
    vault,
    'SELECT document, hash FROM history ORDER BY seq',
  );
  let previous = NO_PREVIOUS_ENTRY;
  for (const line of lines) {
    const entry = JSON.parse(line.document) as HistoryEntry;
    expect(entry.previousHash).toBe(previous);
    expect(historyHash(entry)).toBe(line.hash);
    previous = line.hash;
  }
  const versions = lines
    .map((line) => JSON.parse(line.document) as HistoryEntry)
    .filter((line) => line.transactionId === id);
  expect(versions.map((line) => [line.version, line.action])).toEqual([
    [1, 'create'],
    [2, 'approve'],
    [3, 'approve'],
    [4, 'prepare'],
    [5, 'sign'],
    [6, 'send'],
    [7, 'include'],
  ]);
  expect((await stateOf(vault, id)).state).toBe('SUCCEEDED');
});

test('a late or repeated message has no effect', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  expect(await vault.work(id, 'sign')).toBeNull();
  await vault.approve(alice, id);
  await vault.approve(bob, id);
  expect(await vault.work(id, 'sign')).toMatchObject({
    transaction: { id },
    adoption: { policy: { signingThreshold: 2 } },
  });
  expect(await vault.work(id, 'broadcast')).toBeNull();
  const before = await stateOf(vault, id);
  await vault.record(id, { type: 'include', inclusion: inclusion(), confirmationsNeeded: 1 });
  await vault.record(id, { type: 'send', attempt: 1, outcome: 'accepted', answer: null });
  expect(await stateOf(vault, id)).toEqual(before);
});

test('the first recorded key stays the key of the vault', async () => {
  const { vault } = await vaultWithWallet();
  const other = parseKeyId('b'.repeat(26));
  if (other === null) throw new Error('the key id must parse');
  await vault.recordKey({
    keyId: other,
    scheme: 'ecdsa-secp256k1',
    publicKey: '03',
    publicShares: {},
    addresses: { anvil: RECIPIENT },
  });
  expect((await vault.describe())?.keys.map((key) => key.addresses)).toEqual([{ anvil: WALLET }]);
  expect(await vault.keyWork()).toBeNull();
});

test('a lost alarm is set again by `rearmAlarm`', async () => {
  const { vault } = await vaultWithWallet();
  await created(vault);
  const alarmOf = () => runInDurableObject(vault, (_object, state) => state.storage.getAlarm());
  // No alarm is set while one runs. Unacknowledged messages are due again after some seconds, and
  // the test deletes the alarm for that time.
  await vi.waitFor(async () => expect(await alarmOf()).toBeGreaterThan(Date.now() + 2_000), 20_000);
  await runInDurableObject(vault, (_object, state) => state.storage.deleteAlarm());
  expect(await alarmOf()).toBeNull();
  await vault.rearmAlarm();
  expect(await alarmOf()).toBeGreaterThan(Date.now());
});
