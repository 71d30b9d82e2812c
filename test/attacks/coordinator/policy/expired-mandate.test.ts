/**
 * Attack: the coordinator has a policy change adopted a year after its signers saw it expire.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.8
 * Defence: a mandate expires by the clock of each co-signer, unless t other co-signers attest that
 *   they adopted the policy in time.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { VaultKey } from '#domain/vault.ts';
import { syncPolicies } from '#cosigner-client/sync-policies.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { newKey, startCosigners } from '../../../cosigner/cosigners.ts';
import { changeTo, first, LAPTOP, NEW_LAPTOP, NEW_PHONE, PHONE, revoked, shownTo } from '../../policy-scene.ts';

let cosigners: Cosigners;
let key: VaultKey;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  key = await newKey(cosigners.all, { governedBy: byDevice });
}, 60_000);
afterAll(() => cosigners.stop());

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

test('an expired change with all its approvals is refused, even with attestations of all co-signers', async () => {
  const holiday = { ...byDevice, version: 2, threshold: 1, previousHash: policyHashOf(byDevice) };
  const old = changeTo(holiday, [LAPTOP, PHONE], Date.now() - YEAR_MS);
  const no = ['mandate-expired', 'mandate-expired', 'mandate-expired'];
  expect(await shownTo(cosigners.all, key.keyId, old)).toEqual(no);
  expect(await shownTo(cosigners.all, key.keyId, old, cosigners.all)).toEqual(no);
});

test('a co-signer that was unreachable adopts an expired change with two attestations, and not with one', async () => {
  const inTime = changeTo(revoked, [LAPTOP, PHONE]);
  expect(await shownTo(cosigners.some(1), key.keyId, inTime)).toEqual(['adopted']);
  const late = changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1);
  expect(await shownTo(cosigners.some(3), key.keyId, late, cosigners.some(1))).toEqual(['mandate-expired']);
  expect(await shownTo(cosigners.some(2), key.keyId, inTime)).toEqual(['adopted']);
  // Attestations of this policy do not count for another one.
  const other = changeTo({ ...revoked, threshold: 1 }, [LAPTOP, PHONE], Date.now() - 1);
  expect(await shownTo(cosigners.some(3), key.keyId, other, cosigners.some(1, 2))).toEqual(['mandate-expired']);
  // Attestations do not replace a missing approval.
  const unapproved = changeTo(revoked, [LAPTOP], Date.now() - 1);
  expect(await shownTo(cosigners.some(3), key.keyId, unapproved, cosigners.some(1, 2))).toEqual(['policy-mismatch']);
  const audience = { cosigners: cosigners.some(3), attesters: cosigners.all, keyId: key.keyId };
  expect(await syncPolicies(audience, [first, late])).toMatchObject({ ok: true });
});

test('a co-signer that is two versions behind gets the versions that it lacks, in order', async () => {
  const third = { ...revoked, version: 3, threshold: 3, previousHash: policyHashOf(revoked) };
  const fourth = { ...third, version: 4, threshold: 2, previousHash: policyHashOf(third) };
  const signs = [NEW_LAPTOP, NEW_PHONE];
  const all = [first, changeTo(revoked, [LAPTOP, PHONE]), changeTo(third, signs)];
  const audience = { cosigners: cosigners.all, attesters: cosigners.all, keyId: key.keyId };
  expect(await syncPolicies(audience, all)).toMatchObject({ ok: true });
  // Version 3 requires all three of its signers.
  expect(await syncPolicies(audience, [...all, changeTo(fourth, signs)])).toMatchObject({
    ok: false,
    refusal: { code: 'policy-mismatch' },
  });
});
