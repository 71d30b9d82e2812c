/**
 * Attack: after a revocation, the coordinator lets the revoked devices pay from another wallet of
 *   the vault, whose key never received the revocation.
 * Attacker: coordinator and devices
 * Co-signers: 0
 * Finding: F10
 * Defence: the keys of a vault have no policies. A co-signer reads the policy in force from the
 *   object of the vault, for each key and each signature.
 */
import { beforeAll, expect, test } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { policyStatements } from '#cosigner-client/policy-statements.ts';
import { byDevice } from '../../cosigner/policy/device-scene.ts';
import { approvedTransfer, newKey } from '../../cosigner/cosigners.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import type { Signs } from '../policy-scene.ts';
import {
  approvalsOf,
  first,
  LAPTOP,
  NEW_LAPTOP,
  NEW_PHONE,
  PHONE,
  policyScene,
  revocation,
  revoked,
  shownTo,
} from '../policy-scene.ts';

const scene = policyScene(byDevice);
let keys: readonly VaultKey[];
beforeAll(async () => {
  keys = [scene.key, await newKey(scene.cosigners.all, { governedBy: byDevice })];
});

/** Returns 'signed', or why the co-signers refuse a payment that these devices approve. */
async function paid(key: VaultKey, governedBy: typeof byDevice, ...signs: readonly Signs[]): Promise<string> {
  const request = approvedTransfer({ key, governedBy });
  const approvals = approvalsOf(request.transaction.digest, ...signs);
  const policies = [first, revocation].filter(({ policy }) => policy.version <= governedBy.version);
  const outcome = await thresholdSign(scene.cosigners.all, { ...request, approvals, policies });
  return outcome.ok ? 'signed' : outcome.reason;
}

test('a revocation binds every wallet of the vault at the same moment', async () => {
  for (const key of keys) expect(await paid(key, byDevice, LAPTOP, PHONE)).toBe('signed');
  expect(await shownTo(scene.cosigners.all, revocation)).toEqual(['adopted', 'adopted', 'adopted']);
  for (const key of keys) {
    // The coordinator names the policy from before the revocation, or the one in force.
    expect(await paid(key, byDevice, LAPTOP, PHONE)).toContain('policy-ahead');
    expect(await paid(key, revoked, LAPTOP, PHONE)).toContain('not-enough-approvals');
    expect(await paid(key, revoked, NEW_LAPTOP, NEW_PHONE)).toBe('signed');
  }
  const nonce = 'ab'.repeat(32);
  const statements = await policyStatements(
    scene.cosigners.all,
    keys.map(({ keyId }) => keyId),
    nonce,
  );
  expect(statements.map(({ statement }) => statement?.policyVersion)).toEqual([2, 2, 2, 2, 2, 2]);
});
