/**
 * Attack: the people approve a policy change, the coordinator says that it failed, and they approve
 *   another one. The coordinator shows each of them to a half of the co-signers, so that no group
 *   can sign again.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F7
 * Defence: a co-signer chooses one policy of each version, and adopts it on the attestations of as
 *   many co-signers as sign together.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { byDevice, founded } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { approvedTransfer, inVault, newKey, startCosigners } from '../../../cosigner/cosigners.ts';
import { thresholdSign } from '../../../cosigner/threshold-sign.ts';
import { approvalsOf, attestationsOf, changeTo, LAPTOP, PHONE, sentTo, shownTo } from '../../policy-scene.ts';

const threeOfFour: Policy = { ...byDevice, signingThreshold: 3 };

/** Returns two changes of one version that the same devices approved. */
function changesOf(first: Policy): readonly [AdoptedPolicy, AdoptedPolicy] {
  const next = { ...first, version: 2, previousHash: policyHashOf(first) };
  return [changeTo(next, [LAPTOP, PHONE]), changeTo({ ...next, threshold: 1 }, [LAPTOP, PHONE])];
}

let cosigners: Cosigners;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners(4);
});
afterAll(() => cosigners.stop());

/** Reports whether a payment that both devices approve is signed under the newest policy. */
async function pays(key: VaultKey, ...policies: readonly AdoptedPolicy[]): Promise<boolean> {
  const newest = policies.at(-1);
  if (newest === undefined) throw new Error('a vault has a policy');
  const request = approvedTransfer({ key, governedBy: newest.policy });
  const approvals = approvalsOf(request.transaction.digest, LAPTOP, PHONE);
  return (await thresholdSign(cosigners.all, { ...request, approvals, policies })).ok;
}

test('two changes, each shown to a half, are adopted by no co-signer, and the vault signs as before', async () => {
  const first = inVault(31, threeOfFour);
  const key = await newKey(cosigners.all, { governedBy: first });
  const [change, rival] = changesOf(first);
  const [half, others] = [cosigners.some(1, 2), cosigners.some(3, 4)];
  const notEnough = ['not-enough-attestations', 'not-enough-attestations'];
  expect(await sentTo(half, [change], await attestationsOf(half, [change]))).toEqual(notEnough);
  expect(await sentTo(others, [rival], await attestationsOf(others, [rival]))).toEqual(notEnough);
  expect(await shownTo(half, rival, cosigners.all)).toEqual(['other-choice', 'other-choice']);
  expect(await shownTo(others, change, cosigners.all)).toEqual(['other-choice', 'other-choice']);
  expect(await pays(key, founded(first))).toBe(true);
});

test('a change that three co-signers adopted reaches the fourth, and the other change reaches none', async () => {
  const first = inVault(32, threeOfFour);
  const key = await newKey(cosigners.all, { governedBy: first });
  const [change, rival] = changesOf(first);
  expect(await shownTo(cosigners.some(1, 2, 3), change)).toEqual(['adopted', 'adopted', 'adopted']);
  const refused = ['policy-mismatch', 'policy-mismatch', 'policy-mismatch', 'not-enough-attestations'];
  expect(await shownTo(cosigners.all, rival)).toEqual(refused);
  expect(await shownTo(cosigners.some(4), change, cosigners.all)).toEqual(['adopted']);
  expect(await pays(key, founded(first), change)).toBe(true);
});
