import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { parseKeyId, parseTransactionId } from '#domain/id.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import { OPERATOR, alice, bob, carol, mallory, PREPARED, HASH, inclusion } from '../../domain/cast.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { vaultOf } from './vault-of.ts';

import {
  createdVault,
  vaultWithWallet,
  changePolicy,
  transfer,
  approve,
  reject,
  create,
  created,
  stateOf,
  rows,
  coordinator,
  RECIPIENT,
  WALLET,
} from './object-scene.worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a transfer requires two of three approvals, and the second one enqueues exactly one signature', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  expect((await approve(vault, alice, id)).ok).toBe(true);
  expect((await stateOf(vault, id)).state).toBe('SUBMITTED');
  expect((await approve(vault, bob, id)).ok).toBe(true);
  expect((await stateOf(vault, id)).state).toBe('SIGNING');
  expect(
    await rows(vault, `SELECT job FROM outbox WHERE tx_id = '${id}' AND job NOT IN ('project', 'notify')`),
  ).toEqual([{ job: 'sign' }]);
});

test('three simultaneous approvals enter SIGNING once', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  const answers = await Promise.all([alice, bob, carol].map((one) => approve(vault, one, id)));
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
  await approve(vault, alice, id);
  const [approval, rejection] = await Promise.all([approve(vault, bob, id), reject(vault, carol, id)]);
  expect([approval.ok, rejection.ok].filter(Boolean)).toHaveLength(1);
  expect((await stateOf(vault, id)).state).toBe(approval.ok ? 'SIGNING' : 'REJECTED');
});

test('a repeated approval is answered and counts once', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await approve(vault, alice, id);
  const again = await approve(vault, alice, id);
  expect(again).toMatchObject({ ok: true, value: { changed: false } });
  expect((await stateOf(vault, id)).approvals).toHaveLength(1);
});

test('an approval that is repeated after the decision gets its response again', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await approve(vault, alice, id);
  await approve(vault, bob, id);
  expect(await approve(vault, bob, id)).toMatchObject({
    ok: true,
    value: { changed: false },
  });
  const rejected = await created(vault);
  await reject(vault, carol, rejected.id);
  expect(await reject(vault, carol, rejected.id)).toMatchObject({
    ok: true,
    value: { changed: false },
  });
  expect(await reject(vault, bob, rejected.id)).toMatchObject({
    ok: false,
    refusal: { code: 'transaction-not-pending', state: 'REJECTED' },
  });
});

test('a stranger gets the same response for this vault and for a missing one', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  const forbidden = { ok: false, refusal: { code: 'forbidden' } };
  const nowhere = vaultOf(coordinator, 999_999);
  for (const stub of [vault, nowhere]) {
    expect(await create(stub, mallory, transfer())).toEqual(forbidden);
    expect(await stub.query(mallory, { type: 'readRecord', id })).toEqual(forbidden);
    expect(await stub.query(mallory, { type: 'challenge', id })).toEqual(forbidden);
    expect(await approve(stub, mallory, id)).toEqual(forbidden);
    expect(await reject(stub, mallory, id)).toEqual(forbidden);
    expect(await stub.query(mallory, { type: 'projectedScope' })).toEqual(forbidden);
  }
  expect(
    await rows(nowhere, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\'"),
  ).toEqual([]);
});

test('a viewer can read, and can neither create nor approve', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  await vault.execute(OPERATOR, { type: 'putMember', userId: mallory.userId, roles: ['viewer'] });
  await vault.execute(mallory, { type: 'answerInvitation', answer: 'accept' });
  const forbidden = { ok: false, refusal: { code: 'forbidden' } };
  expect((await vault.query(mallory, { type: 'readRecord', id })).ok).toBe(true);
  expect(await create(vault, mallory, transfer())).toEqual(forbidden);
  expect(await approve(vault, mallory, id)).toEqual(forbidden);
  expect(await reject(vault, mallory, id)).toEqual(forbidden);
});

test('an unknown transaction inside a visible vault is not found', async () => {
  const { vault, id } = await vaultWithWallet();
  const unknown = parseTransactionId(`${id}.01ARZ3NDEKTSV4RRFFQ69G5FAV`);
  if (unknown === null) throw new Error('the id must parse');
  expect(await vault.query(alice, { type: 'readRecord', id: unknown })).toEqual({
    ok: false,
    refusal: { code: 'transaction-not-found' },
  });
});

test('a repeated Idempotency-Key returns the same transaction, even after the object was evicted', async () => {
  const { vault } = await vaultWithWallet();
  const request = transfer({ idempotency: { key: 'payout-1', fingerprint: 'f1' } });
  const first = await created(vault, alice, request);
  await evictDurableObject(vault);
  const again = await vault.execute(alice, { type: 'createTransaction', request });
  expect(again).toMatchObject({ ok: true, value: { replayed: true, view: { transaction: { id: first.id } } } });
  const other = await vault.execute(alice, {
    type: 'createTransaction',
    request: { ...request, idempotency: { key: 'payout-1', fingerprint: 'f2' } },
  });
  expect(other).toEqual({ ok: false, refusal: { code: 'idempotency-key-reused' } });
  const bobs = await vault.execute(bob, { type: 'createTransaction', request });
  expect(bobs).toMatchObject({ ok: true, value: { replayed: false } });
});

test('an external id is permanent', async () => {
  const { vault } = await vaultWithWallet();
  const first = await created(vault, alice, transfer({ externalId: 'invoice-7' }));
  expect(await create(vault, bob, transfer({ externalId: 'invoice-7' }))).toEqual({
    ok: false,
    refusal: { code: 'external-id-taken', transactionId: first.id, state: first.state, createdBy: alice.userId },
  });
});

test('no transaction is created without a wallet, on a chain that is not enabled, or above the pending limit', async () => {
  const { vault: keyless } = await createdVault();
  expect(await create(keyless, alice, transfer())).toEqual({
    ok: false,
    refusal: { code: 'wallet-not-ready', chain: 'anvil' },
  });
  const { vault } = await vaultWithWallet({ mostPending: 1 });
  expect(await create(vault, alice, transfer({ chain: 'ethereum' }))).toEqual({
    ok: false,
    refusal: { code: 'chain-not-enabled', chain: 'ethereum' },
  });
  const { id } = await created(vault);
  expect(await create(vault, alice, transfer())).toEqual({
    ok: false,
    refusal: { code: 'too-many-pending', limit: 1 },
  });
  await reject(vault, bob, id);
  expect((await create(vault, alice, transfer())).ok).toBe(true);
});

test('the vault decides whether a transaction starts as DRAFT or SUBMITTED, and a draft can be decided too', async () => {
  const { vault } = await vaultWithWallet({ initialState: 'DRAFT' });
  const { id, state } = await created(vault);
  expect(state).toBe('DRAFT');
  await approve(vault, alice, id);
  await approve(vault, bob, id);
  expect((await stateOf(vault, id)).state).toBe('SIGNING');
});

test('a removed signer loses the approval in the same commit', async () => {
  const { vault } = await vaultWithWallet();
  const [one, two] = [await created(vault), await created(vault)];
  await approve(vault, carol, one.id);
  await approve(vault, carol, two.id);
  await changePolicy(vault, { signers: [alice.userId, bob.userId] });
  expect((await stateOf(vault, one.id)).approvals).toEqual([]);
  expect((await stateOf(vault, two.id)).approvals).toEqual([]);
  await changePolicy(vault, { signers: [alice.userId, bob.userId, carol.userId] });
  await approve(vault, alice, one.id);
  expect((await stateOf(vault, one.id)).state).toBe('SUBMITTED');
});

test('a refused policy change changes nothing', async () => {
  const { vault } = await vaultWithWallet();
  const before = await vault.work({ type: 'describeVault' });
  const tooHigh = { patch: { threshold: 4, rules: {} }, note: null };
  expect(await vault.execute(alice, { type: 'proposePolicy', ...tooHigh })).toEqual({
    ok: false,
    refusal: 'threshold-out-of-range',
  });
  expect(await vault.work({ type: 'describeVault' })).toEqual(before);
});

test('an undecided transaction expires by itself', async () => {
  const { vault } = await vaultWithWallet();
  const { id } = await created(vault);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
  expect(await vault.query(alice, { type: 'challenge', id })).toMatchObject({
    ok: false,
    refusal: { code: 'transaction-not-pending', state: 'EXPIRED' },
  });
  expect(await approve(vault, alice, id)).toMatchObject({
    ok: false,
    refusal: { code: 'transaction-not-pending', state: 'EXPIRED' },
  });
  await runDurableObjectAlarm(vault);
  expect((await stateOf(vault, id)).state).toBe('EXPIRED');
});

test('the read model has everything that the vault has before a list is read, whatever D1 already contains', async () => {
  const { vault, id: vaultId } = await vaultWithWallet();
  const { id } = await created(vault);
  await approve(vault, alice, id);
  expect((await vault.query(alice, { type: 'projectedScope' })).ok).toBe(true);
  const read = () =>
    coordinator.DB.prepare('SELECT state, version, record FROM transactions WHERE id = ?')
      .bind(id)
      .first<{ state: string; version: number; record: string }>();
  expect(await read()).toMatchObject({ state: 'SUBMITTED', version: 2 });
  await approve(vault, bob, id);
  await vault.query(alice, { type: 'projectedScope' });
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
  await approve(vault, alice, id);
  await approve(vault, bob, id);
  await vault.report({ type: 'recordEvent', id, event: { type: 'prepare', attempt: PREPARED } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'sign', attempt: 1, raw: '0x02ee', hash: '0xother' } });
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'send', attempt: 1, outcome: 'accepted', answer: null },
  });
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'include', inclusion: inclusion({ confirmations: 5 }), confirmationsNeeded: 2 },
  });
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
  expect(await vault.work({ type: 'transactionWork', id, job: 'sign' })).toBeNull();
  await approve(vault, alice, id);
  await approve(vault, bob, id);
  expect(await vault.work({ type: 'transactionWork', id, job: 'sign' })).toMatchObject({
    transaction: { id },
    adoption: { policy: { signingThreshold: 2 } },
  });
  expect(await vault.work({ type: 'transactionWork', id, job: 'broadcast' })).toBeNull();
  const before = await stateOf(vault, id);
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'include', inclusion: inclusion(), confirmationsNeeded: 1 },
  });
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'send', attempt: 1, outcome: 'accepted', answer: null },
  });
  expect(await stateOf(vault, id)).toEqual(before);
});

test('the first recorded key stays the key of the vault', async () => {
  const { vault } = await vaultWithWallet();
  const other = parseKeyId('b'.repeat(26));
  if (other === null) throw new Error('the key id must parse');
  await vault.report({
    type: 'recordKey',
    key: {
      keyId: other,
      scheme: 'ecdsa-secp256k1',
      publicKey: '03',
      publicShares: {},
      addresses: { anvil: RECIPIENT },
    },
  });
  expect((await vault.work({ type: 'describeVault' }))?.keys.map((key) => key.addresses)).toEqual([{ anvil: WALLET }]);
  expect(await vault.work({ type: 'keyWork' })).toBeNull();
});

test('a lost alarm is set again by `wake`', async () => {
  const { vault } = await vaultWithWallet();
  await created(vault);
  const alarmOf = () => runInDurableObject(vault, (_object, state) => state.storage.getAlarm());
  // No alarm is set while one runs. Unacknowledged messages are due again after some seconds, and
  // the test deletes the alarm for that time.
  await vi.waitFor(async () => expect(await alarmOf()).toBeGreaterThan(Date.now() + 2_000), 20_000);
  await runInDurableObject(vault, (_object, state) => state.storage.deleteAlarm());
  expect(await alarmOf()).toBeNull();
  await vault.wake();
  expect(await alarmOf()).toBeGreaterThan(Date.now());
});

test('a creation that fails does not count as pending, and does not use up the number of its creator', async () => {
  const { vault } = await vaultWithWallet({ mostPending: 5 });
  await created(vault);
  const refuse = "BEGIN SELECT RAISE(ABORT, 'the history is full'); END";
  const write = (sql: string) => runInDurableObject(vault, (_object, { storage }) => void storage.sql.exec(sql));
  await write(`CREATE TRIGGER full BEFORE INSERT ON history ${refuse}`);
  const fails = (object: VaultDoors) => create(object, alice, transfer()).catch((error: Error) => error.message);
  for (let time = 0; time < 3; time++) {
    const failed = await runInDurableObject(vault, (object) => fails(object as unknown as VaultDoors));
    expect(failed).toContain('the history is full');
  }
  await write('DROP TRIGGER full');
  // A person has at most three of five.
  for (let time = 0; time < 2; time++) await created(vault);
  expect(await create(vault, alice, transfer())).toMatchObject({ refusal: { code: 'too-many-own-pending' } });
});
