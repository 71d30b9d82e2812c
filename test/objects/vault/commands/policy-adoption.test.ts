import { expect, test } from 'vitest';
import { ADOPTION_PERIOD_MS } from '#domain/policy/policy-change.ts';
import { adoptionWork, decidePolicyChange, proposePolicy, reportAdoption } from '#objects/vault/commands/policy.ts';
import { alice, bob } from '../../../domain/cast.ts';
import { present } from '../../../chains/evm/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/**
 * Covers the job that shows an adopted policy to the co-signers until each of them has adopted it.
 */

function newScene(keys: 'with a key' | 'without a key') {
  const { host, storage, replaceVault } = newVaultScene();
  const created = present(host.vault());
  const vault = keys === 'with a key' ? created : { ...created, keys: [] };
  replaceVault(vault);
  storage.putVault(vault);
  storage.policies.adopt({ policy: vault.policy, mandate: null }, 'ab'.repeat(32));
  const change = async (threshold: 1 | 2) => {
    const signers = threshold === 1 ? [alice.userId] : [alice.userId, bob.userId];
    const proposed = await proposePolicy(host, alice, { patch: { rules: {}, signers, threshold }, note: null });
    if (!proposed.ok) throw new Error(JSON.stringify(proposed.refusal));
    return proposed.value.change;
  };
  return { host, storage, change, version: () => present(host.vault()).policy.version };
}

/** Returns the report that every co-signer has adopted this version. */
const shown = (version: number) => ({ version, isComplete: true, expired: [], adoptedVersions: { 1: version } });

test('the adoption is outstanding from the last approval until all co-signers have the newest version', async () => {
  const { host, storage, change, version } = newScene('with a key');
  expect(adoptionWork(host)).toBeNull();
  const { id } = await change(2);
  expect(adoptionWork(host)).toBeNull();
  await decidePolicyChange(host, alice, { id, decision: { type: 'approve', device: null } });
  expect([version(), storage.queuedJob('', 'adopt-policy')]).toMatchObject([2, { tries: 0 }]);
  expect(adoptionWork(host)?.policy.version).toBe(2);
  expect(storage.policies.adoptedAfter(0).map(({ policy }) => policy.version)).toEqual([1, 2]);
  expect(storage.policies.adoptedAfter(1).map(({ policy }) => policy.version)).toEqual([2]);
  // A report about an earlier version does not end the adoption, and a repeated report counts once.
  await reportAdoption(host, shown(1));
  expect(adoptionWork(host)?.adoptedVersions).toEqual({ 1: 1 });
  await reportAdoption(host, shown(2));
  await reportAdoption(host, shown(2));
  expect([adoptionWork(host), storage.queuedJob('', 'adopt-policy')]).toEqual([null, null]);
});

test('a vault without a key has no adoption job, because its key will be made under the newest policy', async () => {
  const { host, storage, change } = newScene('without a key');
  const { id } = await change(2);
  await decidePolicyChange(host, alice, { id, decision: { type: 'approve', device: null } });
  expect([adoptionWork(host), storage.queuedJob('', 'adopt-policy')]).toEqual([null, null]);
});

test('signers decide within the decision period, and co-signers have one more week to adopt the policy', async () => {
  const { storage, change } = newScene('with a key');
  const made = await change(2);
  expect(made.decisionEndsAtMs - made.createdAtMs).toBe(3_600_000);
  expect(made.expiresAtMs - made.decisionEndsAtMs).toBe(ADOPTION_PERIOD_MS);
  expect(storage.queuedJob(made.id, 'expire-policy')).toMatchObject({ dueAtMs: made.decisionEndsAtMs });
});
