import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Member, Role } from '#domain/access/member.ts';
import type { Actor, Operator } from '#domain/access/approval.ts';
import type { PolicyPatch } from '#domain/vault/next-policy.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import {
  adoptionWork,
  decidePolicyChange,
  expirePolicyChange,
  policyInForce,
  proposePolicy,
  readPolicyChange,
  renewMandate,
  reportAdoption,
} from '#objects/vault/commands/policy.ts';
import { present } from '../../../chains/evm/cast.ts';
import { actor as person, alice, amount, bob, carol, mallory, NOON_MS } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/**
 * Covers the renewal of a mandate. Alice and bob are signers under version 1. Alice and carol are
 * signers under version 2, where bob is a viewer. The mandate of version 2 expires before all
 * co-signers have adopted it.
 */

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

const member = ({ userId }: Actor, ...roles: readonly Role[]): Member => ({ userId, roles });
/** Together they have ten pending changes. */
const ADMINS = [20, 21, 22, 23, 24].map(person);
const VERSION_2 = { rules: {}, signers: [alice.userId, carol.userId] };

async function newScene(keys: 'with a key' | 'without a key' = 'with a key') {
  const { host, storage, replaceVault } = newVaultScene();
  const created = present(host.vault());
  const policy = { ...created.policy, signers: [alice.userId, bob.userId], threshold: 2 };
  const admins = ADMINS.map((admin) => member(admin, 'admin'));
  const members = [member(alice, 'signer', 'admin'), member(bob, 'signer', 'viewer'), ...admins];
  const vault = { ...created, policy, members, keys: keys === 'with a key' ? created.keys : [] };
  replaceVault(vault);
  storage.putVault(vault);
  storage.policies.adopt({ policy, mandate: null }, policyHashOf(policy));
  storage.enqueueJob({ transactionId: '', job: 'generate-key', version: 0, dueAtMs: NOON_MS + 120_000, tries: 7 });
  const propose = async (patch: PolicyPatch, actor: Actor | Operator = alice) => {
    const proposed = await proposePolicy(host, actor, { patch, note: null });
    if (!proposed.ok) throw new Error(JSON.stringify(proposed.refusal));
    return proposed.value.change;
  };
  const approve = async (actor: Actor, id: string) => {
    const decided = await decidePolicyChange(host, actor, {
      id: idOf(id),
      decision: { type: 'approve', device: null },
    });
    // A new signer accepts the vault.
    const governed = present(host.vault());
    if (governed.invitations.length > 0) replaceVault({ ...governed, invitations: [] });
    return decided.ok ? decided.value.change.state : decided.refusal.code;
  };
  const idOf = (id: string) => present(storage.policies.change(id)).id;
  const adopt = async (patch: PolicyPatch, ...actors: readonly Actor[]) => {
    const { id } = await propose(patch);
    for (const actor of actors) await approve(actor, id);
    return id;
  };
  const renew = (version = 2, actor: Actor = alice, note: string | null = null) =>
    renewMandate(host, actor, { version, note });
  const renewed = async (...request: Parameters<typeof renew>) => {
    const answer = await renew(...request);
    if (!answer.ok) throw new Error(answer.refusal.code);
    return answer.value.change;
  };
  const refusal = async (...request: Parameters<typeof renew>) => {
    const answer = await renew(...request);
    return answer.ok ? null : answer.refusal.code;
  };
  const mandateOf = (version: number) => present(storage.policies.adoptedAs(version)?.mandate);
  const lines = () => storage.history.after(0, 100).map(({ action }) => action);
  const needed = () => {
    const view = policyInForce(host, alice);
    return view.ok ? view.value.renewalsNeeded : [];
  };
  await adopt(VERSION_2, alice, bob);
  expect(host.vault()?.policy.version).toBe(2);
  const expire = (version = 2) => vi.setSystemTime(mandateOf(version).expiresAtMs);
  return {
    host,
    storage,
    propose,
    approve,
    adopt,
    idOf,
    renewed,
    refusal,
    mandateOf,
    lines,
    needed,
    expire,
    vault: () => present(host.vault()),
    keyId: present(created.keys[0]).keyId,
  };
}

test('a renewal is refused for a mandate in force, for an unadopted version, and for a member who cannot propose', async () => {
  const { refusal, mandateOf, expire } = await newScene();
  vi.setSystemTime(mandateOf(2).expiresAtMs - 1);
  expect(await refusal()).toBe('mandate-in-force');
  expire();
  expect(await refusal(1)).toBe('policy-version-not-found');
  expect(await refusal(3)).toBe('policy-version-not-found');
  expect(await refusal(2, bob)).toBe('forbidden');
  expect(await refusal(2, mallory)).toBe('forbidden');
  expect(await refusal()).toBeNull();
});

test('a renewal is a new change to the same policy, and a repeated request returns the same renewal', async () => {
  const { renewed, mandateOf, storage, expire, lines } = await newScene();
  expire();
  const first = await renewed(2, alice, 'carol was away');
  expect(first).toMatchObject({ state: 'PENDING', renewsVersion: 2, requiredApprovals: 2, note: 'carol was away' });
  expect(first.id).not.toBe(mandateOf(2).id);
  expect(policyHashOf(first.policy)).toBe(policyHashOf(present(storage.policies.adoptedAs(2)).policy));
  expect(first.expiresAtMs).toBeGreaterThan(Date.now());
  expect((await renewed(2, carol)).id).toBe(first.id);
  expect(lines().filter((action) => action === 'propose-renewal')).toHaveLength(1);
});

test('only the full quorum of the previous version renews a mandate: neither a new signer nor half the quorum does', async () => {
  const { renewed, approve, mandateOf, expire, host } = await newScene();
  expire();
  const before = mandateOf(2);
  const { id } = await renewed();
  // Carol is a signer only under version 2, so co-signers would not count her approval.
  expect(await approve(carol, id)).toBe('forbidden');
  expect(await approve(alice, id)).toBe('PENDING');
  expect(await approve(mallory, id)).toBe('forbidden');
  expect(mandateOf(2)).toEqual(before);
  const view = readPolicyChange(host, bob, { id: present(await renewed()).id });
  expect(view).toMatchObject({ ok: true, value: { policy: { version: 2 }, decider: { version: 1 } } });
  // Bob is no longer a signer, and still a member.
  expect(await approve(bob, id)).toBe('ADOPTED');
  expect(mandateOf(2)).toMatchObject({ id, approvals: [{ actor: alice }, { actor: bob }] });
});

test('an ordinary change is still decided by the current signers only', async () => {
  const { propose, approve } = await newScene();
  const { id } = await propose({ rules: {}, threshold: 1 });
  expect(await approve(bob, id)).toBe('forbidden');
  expect(await approve(carol, id)).toBe('PENDING');
});

test('the renewal replaces only the mandate, and the jobs that wait for it are due', async () => {
  const { renewed, approve, refusal, storage, vault, lines, expire, propose, host } = await newScene();
  await reportAdoption(host, { version: 2, isComplete: true, expired: [], adoptedVersions: {} });
  expire();
  const other = await propose({ rules: {}, threshold: 1 });
  const [before, policy] = [vault(), present(storage.policies.adoptedAs(2)).policy];
  const { id } = await renewed();
  for (const actor of [alice, bob]) await approve(actor, id);
  expect(vault()).toBe(before);
  expect([...storage.policies.adopted()].map(({ policy: { version } }) => version)).toEqual([1, 2]);
  expect(storage.policies.adoptedAs(2)).toMatchObject({ policy, mandate: { id } });
  expect(storage.policies.change(other.id)?.state).toBe('PENDING');
  for (const job of ['adopt-policy', 'generate-key'] as const) {
    expect(storage.queuedJob('', job)).toMatchObject({ dueAtMs: Date.now(), tries: 0 });
  }
  expect(storage.queuedJob(id, 'expire-policy')).toBeNull();
  expect(lines().slice(-3)).toEqual(['approve-renewal', 'approve-renewal', 'renew-mandate']);
  expect(storage.history.after(0, 100).at(-1)).toMatchObject({ detail: id, digest: policyHashOf(policy) });
  expect(await refusal()).toBe('mandate-in-force');
});

test('a repeated approval renews the mandate once, also after a restart', async () => {
  const { renewed, approve, storage, lines, expire, host, idOf } = await newScene();
  expire();
  const { id } = await renewed();
  for (const actor of [alice, bob]) await approve(actor, id);
  const [stored, length] = [storage.policies.adopted(), lines().length];
  expect(await approve(bob, id)).toBe('ADOPTED');
  expect(
    await decidePolicyChange(host, bob, { id: idOf(id), decision: { type: 'approve', device: null } }),
  ).toMatchObject({ ok: true });
  await expirePolicyChange(host, id);
  expect([storage.policies.adopted(), lines().length]).toEqual([stored, length]);
  // After a crash that follows the commit, the job is still in the outbox.
  expect(adoptionWork(host)).not.toBeNull();
  expect(storage.policies.adoptedAfter(0).map(({ mandate }) => mandate?.id ?? null)).toEqual([null, id]);
});

test('after a renewal is rejected, cancelled or expired, another one can be requested', async () => {
  const { renewed, approve, host, expire, storage } = await newScene();
  expire();
  const first = await renewed();
  expect(
    await decidePolicyChange(host, bob, { id: first.id, decision: { type: 'reject', device: null } }),
  ).toMatchObject({
    refusal: { code: 'forbidden' },
  });
  // Carol cannot approve the renewal, so her rejection does not count either.
  expect(
    await decidePolicyChange(host, carol, { id: first.id, decision: { type: 'reject', device: null } }),
  ).toMatchObject({
    refusal: { code: 'forbidden' },
  });
  await decidePolicyChange(host, alice, { id: first.id, decision: { type: 'reject', device: null } });
  const second = await renewed();
  await decidePolicyChange(host, alice, { id: second.id, decision: { type: 'cancel' } });
  const third = await renewed();
  vi.setSystemTime(third.decisionEndsAtMs);
  await expirePolicyChange(host, third.id);
  const states = [first, second, third].map(({ id }) => storage.policies.change(id)?.state);
  expect(states).toEqual(['REJECTED', 'CANCELLED', 'EXPIRED']);
  expect(await approve(alice, third.id)).toBe('policy-change-not-pending');
  expect((await renewed()).state).toBe('PENDING');
});

test('a change that is adopted meanwhile does not end a renewal, which stays for its own version', async () => {
  const { renewed, approve, adopt, vault, storage, expire, mandateOf } = await newScene();
  expire();
  const { id } = await renewed();
  await approve(alice, id);
  await adopt({ rules: {}, threshold: 1 }, alice, carol);
  expect([vault().policy.version, storage.policies.change(id)?.state]).toEqual([3, 'PENDING']);
  const newest = storage.policies.adoptedAs(3);
  expect(await approve(bob, id)).toBe('ADOPTED');
  expect([mandateOf(2).id, storage.policies.adoptedAs(3), vault().policy.version]).toEqual([id, newest, 3]);
});

test('ten pending changes do not prevent a renewal, and a renewal does not prevent a proposal', async () => {
  const { propose, renewed, expire } = await newScene();
  expire();
  const limits = (n: number) => [
    { chain: 'anvil', tokenAddress: null, perTransaction: amount(String(n)), perDay: null },
  ];
  await renewed();
  for (let n = 0; n < 10; n++) await propose({ rules: { limits: limits(n + 1) } }, ADMINS[n % 5]);
  await expect(propose({ rules: { limits: limits(11) } })).rejects.toThrow('too-many-policy-changes');
  expect((await renewed()).renewsVersion).toBe(2);
});

test('the two slots of a person include renewals, and another signer can still propose', async () => {
  const { propose, renewed, expire } = await newScene();
  expire();
  await renewed();
  await propose({ rules: {}, threshold: 1 });
  const limits = [{ chain: 'anvil', tokenAddress: null, perTransaction: amount('1'), perDay: null }];
  await expect(propose({ rules: { limits } })).rejects.toThrow('too-many-own-policy-changes');
  await propose({ rules: { limits } }, carol);
});

test('members see which co-signers wait for a renewal until the mandate is renewed', async () => {
  const { host, needed, renewed, approve, expire, vault, storage } = await newScene();
  const expired = [{ cosigner: 3, version: 2 }];
  expire();
  expect(needed()).toEqual([]);
  await reportAdoption(host, { version: 1, isComplete: false, expired, adoptedVersions: {} });
  expect(needed()).toEqual([]);
  await reportAdoption(host, { version: 2, isComplete: false, expired, adoptedVersions: {} });
  expect(needed()).toEqual([{ version: 2, cosigners: [3] }]);
  expect([storage.vault()?.expiredAdoptions, adoptionWork(host)]).toMatchObject([expired, { policy: { vaultId: 7 } }]);
  const { id } = await renewed();
  expect(needed()).toHaveLength(1);
  for (const actor of [alice, bob]) await approve(actor, id);
  expect(needed()).toEqual([]);
  await reportAdoption(host, { version: 2, isComplete: true, expired: [], adoptedVersions: {} });
  expect([vault().expiredAdoptions, storage.vault()?.expiredAdoptions]).toEqual([[], []]);
});

test('a vault without a key waits for every expired mandate, and for none while all are in force', async () => {
  const { needed, renewed, approve, expire, adopt, storage, keyId } = await newScene('without a key');
  await adopt({ rules: {}, threshold: 1 }, alice, carol);
  expect(needed()).toEqual([]);
  expire(3);
  expect(needed()).toEqual([2, 3].map((version) => ({ version, cosigners: [] })));
  const scheme = 'ecdsa-secp256k1';
  // A key candidate that co-signers have made already has the policies, so it needs no renewal.
  storage.putKeyCandidate({ keyId, scheme, publicKey: '02', publicShares: {}, provenBy: [] });
  expect(needed()).toEqual([]);
  storage.dropKeyCandidate(scheme);
  const second = await renewed(2);
  for (const actor of [alice, bob]) await approve(actor, second.id);
  expect(needed()).toEqual([{ version: 3, cosigners: [] }]);
  const third = await renewed(3);
  for (const actor of [alice, carol]) await approve(actor, third.id);
  expect(needed()).toEqual([]);
  expect(storage.queuedJob('', 'generate-key')).toMatchObject({ dueAtMs: Date.now(), tries: 0 });
  expect(storage.queuedJob('', 'adopt-policy')).toBeNull();
});
