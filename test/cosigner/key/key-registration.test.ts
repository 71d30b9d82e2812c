import { expect, test } from 'vitest';
import { KeyRegistration, type CosignerVault } from '#cosigner/key/key-registration.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policy } from '../../domain/cast.ts';
import { memorySql } from '../../objects/memory-sql.ts';
import { changeTo, LAPTOP, PHONE, revoked } from '../../attacks/policy-scene.ts';
import { next } from '../policy/check-scene.ts';
import { byDevice } from '../policy/device-scene.ts';
import { KEY_ID, pausedSignature } from '../session/last-round-scene.ts';
import { vaultObject } from '../vault-scene.ts';

/**
 * Tests the registration of a key at the object of its vault in one co-signer. The test calls the
 * same vault object directly to play another key of the vault.
 */

const NONE = new Map();
const fork: Policy = { ...revoked, threshold: 1 };

/**
 * Returns a key with policy version 1 that was created before vault objects existed, and the calls
 * that the key has made to its vault object.
 */
async function keyOfBefore() {
  const vault = vaultObject(memorySql());
  const calls: string[] = [];
  const afterExtending: { do: (held: number) => void } = { do: () => {} };
  const counted: CosignerVault = {
    vaultPolicies: () => vault.vaultPolicies(),
    extendVault: async (chain) => {
      calls.push(`extend to ${chain.length}`);
      const fault = await vault.extendVault(chain);
      afterExtending.do((await vault.vaultPolicies()).length);
      return fault;
    },
    extendVaultByNewKey: (chain) => vault.extendVaultByNewKey(chain),
  };
  const sql = memorySql();
  const key = await pausedSignature(byDevice, new KeyRegistration(sql, () => counted));
  return { ...key, vault, calls, afterExtending, sql, counted };
}

const hashes = (...chain: readonly Policy[]) => chain.map(policyHashOf);
const change = changeTo(revoked, [LAPTOP, PHONE]);

test('a key that predates vault objects registers its policies at its first use, and sends no later request', async () => {
  const { cosignerKey, vault, calls } = await keyOfBefore();
  for (let i = 0; i < 3; i++) expect(await cosignerKey.attest(1)).toMatchObject({ ok: true });
  expect(calls).toEqual(['extend to 1']);
  expect(await vault.vaultPolicies()).toEqual(hashes(byDevice));
});

test('a key remembers its registration after its memory is lost', async () => {
  const { cosignerKey, calls, sql, counted } = await keyOfBefore();
  await cosignerKey.attest(1);
  const again = new KeyRegistration(sql, () => counted);
  expect(await again.complete([byDevice])).toBeNull();
  expect(calls).toHaveLength(1);
  expect(await again.complete([byDevice, revoked])).toBeNull();
  expect(calls).toEqual(['extend to 1', 'extend to 2']);
});

test('a key whose policies differ from the policies of its vault object attests nothing and signs nothing', async () => {
  const { cosignerKey, vault, sign, transfer } = await keyOfBefore();
  await vault.extendVault(hashes(policy));
  expect(await cosignerKey.attest(1)).toMatchObject({ refusal: { code: 'policy-mismatch', detail: 'vault' } });
  const request = {
    intent: transfer(byDevice),
    payload: '',
    attempt: 1,
    purpose: 'intent',
    approvals: [],
    policyVersion: 1,
    evidence: [],
  } as const;
  expect(await sign(request, async () => {})).toBe('policy-mismatch');
});

test('the vault object records a policy before the key adopts it', async () => {
  const { cosignerKey, storage, afterExtending } = await keyOfBefore();
  const policies: number[] = [];
  afterExtending.do = (held) => policies.push(held, storage.policies().length);
  expect(await cosignerKey.adopt(KEY_ID, change, NONE)).toMatchObject({ ok: true });
  expect([policies, storage.policies().length]).toEqual([[2, 1], 2]);
});

test('an adoption that stopped halfway is completed by the same policy, even after its mandate has expired', async () => {
  const { cosignerKey, storage, vault } = await keyOfBefore();
  await vault.extendVault(hashes(byDevice, revoked));
  const late = changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1);
  expect(await cosignerKey.adopt(KEY_ID, late, NONE)).toMatchObject({ ok: true });
  expect(storage.policies()).toHaveLength(2);
});

test('the vault object accepts only one of two policies that two keys adopt at once', async () => {
  const { cosignerKey, storage, vault } = await keyOfBefore();
  const theirs = vault.extendVault(hashes(byDevice, fork));
  expect(await cosignerKey.adopt(KEY_ID, change, NONE)).toMatchObject({
    refusal: { code: 'policy-mismatch', detail: 'vault' },
  });
  expect([await theirs, storage.policies()]).toEqual([null, [byDevice]]);
  expect(await cosignerKey.adopt(KEY_ID, changeTo(fork, [LAPTOP, PHONE]), NONE)).toMatchObject({ ok: true });
});

test('a key that receives two different policies at once adopts only one of them', async () => {
  const { cosignerKey, storage, vault } = await keyOfBefore();
  const answers = await Promise.all([
    cosignerKey.adopt(KEY_ID, change, NONE),
    cosignerKey.adopt(KEY_ID, changeTo(fork, [LAPTOP, PHONE]), NONE),
    cosignerKey.adopt(KEY_ID, change, NONE),
  ]);
  // Either policy may be adopted first, because their signatures are verified concurrently.
  const agreement = storage.policies().map(policyHashOf);
  const shown = [revoked, fork, revoked].map(policyHashOf);
  expect(agreement).toHaveLength(2);
  expect(answers.map((answer) => (answer.ok ? 'adopted' : answer.refusal.code))).toEqual(
    shown.map((hash) => (hash === agreement[1] ? 'adopted' : 'policy-mismatch')),
  );
  expect(await vault.vaultPolicies()).toEqual(agreement);
});

test('a vault object accepts the same chain of policies again and a prefix of it, and refuses a fork', async () => {
  const vault = vaultObject(memorySql());
  const third = next(revoked, {});
  expect(await vault.extendVault(hashes(byDevice, revoked))).toBeNull();
  expect(await vault.extendVault(hashes(byDevice, revoked))).toBeNull();
  expect(await vault.extendVault(hashes(byDevice))).toBeNull();
  expect(await vault.vaultPolicies()).toEqual(hashes(byDevice, revoked));
  const mismatch = { code: 'policy-mismatch', detail: 'vault' };
  expect(await vault.extendVault(hashes(byDevice, fork))).toMatchObject(mismatch);
  expect(await vault.extendVault(hashes(policy, revoked, third))).toMatchObject(mismatch);
  expect(await vault.vaultPolicies()).toEqual(hashes(byDevice, revoked));
  expect(await vault.extendVault(hashes(byDevice, revoked, third))).toBeNull();
  expect(await vault.extendVaultByNewKey(hashes(byDevice, revoked))).toMatchObject({
    code: 'policy-ahead',
    detail: '3',
  });
  expect(await vault.extendVaultByNewKey(hashes(byDevice, revoked, third))).toBeNull();
});
