import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { generateKey } from '../key/generate-key.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { sourceOf } from '../policy-source.ts';
import {
  approvalsOf,
  changeTo,
  LAPTOP,
  NEW_LAPTOP,
  NEW_PHONE,
  OF_THREE,
  PHONE,
  sentTo,
  shownTo,
  attestationsOf,
} from '../../attacks/policy-scene.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, newKey, startCosigners } from '../cosigners.ts';
import { founded } from './device-scene.ts';

/**
 * With a threshold of three of three, fewer than three other co-signers exist to attest a policy to
 * one that was unreachable until its mandate expired. The quorum then approves a new mandate for
 * the same policy.
 */

const { revoked } = OF_THREE;
const first = founded(OF_THREE.first);

let cosigners: Cosigners;
let key: VaultKey;
const late = changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1);
const renewed = changeTo(revoked, [LAPTOP, PHONE]);
const third: Policy = { ...revoked, version: 3, threshold: 1, previousHash: policyHashOf(revoked) };

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  key = await newKey(cosigners.all, { governedBy: OF_THREE.first });
});
afterAll(() => cosigners.stop());

/** Reports whether a payment that the new devices approve under the policy in force is signed. */
async function pays(policies: readonly AdoptedPolicy[], governedBy: Policy): Promise<boolean> {
  const transfer = approvedTransfer({ key, governedBy });
  const approvals = approvalsOf(transfer.transaction.digest, NEW_LAPTOP, NEW_PHONE);
  return (await thresholdSign(cosigners.all, { ...transfer, approvals, policies })).ok;
}

test('a co-signer that was unreachable for longer than the mandate adopts the renewed one, and all three sign', async () => {
  const inTime = changeTo(revoked, [LAPTOP, PHONE]);
  const attestations = await attestationsOf(cosigners.all, [inTime]);
  expect(await sentTo(cosigners.some(1, 2), [inTime], attestations)).toEqual(['adopted', 'adopted']);
  // Only two other co-signers adopted it, and their attestations are one too few.
  expect(await shownTo(cosigners.some(3), late, cosigners.some(1, 2))).toEqual(['mandate-expired']);
  expect(await pays([first, late], revoked)).toBe(false);
  const everyone = { targets: cosigners.all, attesters: cosigners.all };
  expect(await bringPolicies(sourceOf(first, renewed), everyone)).toMatchObject({ faults: [] });
  expect(await pays([first, renewed], revoked)).toBe(true);
});

test('the quorum of the version before renews a mandate, and the quorum of the version itself does not', async () => {
  const signs = [NEW_LAPTOP, NEW_PHONE];
  const inTime = changeTo(third, signs);
  const [one, last] = [cosigners.some(1, 2), cosigners.some(3)];
  expect(await sentTo(one, [inTime], await attestationsOf(cosigners.all, [inTime]))).toEqual(['adopted', 'adopted']);
  // Version 3 requires one approval. Versions 2 and 3 have the same devices, and version 2 requires
  // two of them.
  const attestations = await attestationsOf(one, [inTime]);
  expect(await sentTo(last, [changeTo(third, [NEW_LAPTOP])], attestations)).toEqual(['policy-mismatch']);
  expect(await sentTo(last, [changeTo(third, [LAPTOP, PHONE])], attestations)).toEqual(['policy-mismatch']);
  expect(await sentTo(last, [changeTo(third, signs)], attestations)).toEqual(['adopted']);
});

test('a vault gets a key under a policy with a renewed mandate, and none while the mandate is expired', async () => {
  const request = { scheme: 'frost-ed25519', threshold: 3 } as const;
  const others = await startCosigners();
  try {
    const before = await generateKey(others.all, { ...request, policies: [first, late] });
    expect(before).toMatchObject({ ok: false, refusal: { reason: expect.stringContaining('mandate-expired') } });
    const after = await generateKey(others.all, { ...request, policies: [first, renewed] });
    expect(after).toMatchObject({ ok: true });
  } finally {
    await others.stop();
  }
});
