import { expect, test } from 'vitest';
import { isExpired } from '#cosigner/policy/policy-chain.ts';
import { successionFault, policyHashOf } from '#devices/policy-succession.ts';
import { policyWithMandateOf } from '#cosigner/signed-document.ts';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';
import { decidePolicyChange, renewMandate } from '#objects/vault/commands/policy.ts';
import type { Signs } from '../../../attacks/policy-scene.ts';
import { changeTo, first, LAPTOP, NEW_LAPTOP, NEW_PHONE, PHONE, revoked } from '../../../attacks/policy-scene.ts';
import { present } from '../../../chains/evm/cast.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import { alice, bob, carol } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/**
 * Version 2 revokes the devices of version 1. Its mandate has expired, and co-signers count the
 * devices of version 1.
 */

function newScene() {
  const { host, storage, replaceVault } = newVaultScene();
  const members = [alice, bob, carol].map(({ userId }) => ({ userId, roles: ['signer'] as const }));
  const vault = { ...present(host.vault()), policy: revoked, members };
  replaceVault(vault);
  storage.putVault(vault);
  storage.policies.adopt(first, policyHashOf(byDevice));
  storage.policies.adopt(changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1), policyHashOf(revoked));
  return { host, storage };
}

test('only the devices of the previous version can renew a mandate, and a co-signer accepts the stored one', async () => {
  const { host, storage } = newScene();
  const answer = await renewMandate(host, carol, { version: 2, note: null });
  if (!answer.ok) throw new Error(answer.refusal.code);
  const { id, digest } = answer.value.change;
  const approve = async ({ actor, device }: Signs) => {
    const decided = await decidePolicyChange(host, actor, {
      id,
      decision: { type: 'approve', device: device.signed(digest) },
    });
    return decided.ok ? decided.value.change.state : decided.refusal.code;
  };
  for (const signs of [NEW_LAPTOP, NEW_PHONE]) expect(await approve(signs)).toBe('device-signature-refused');
  expect(await decidePolicyChange(host, alice, { id, decision: { type: 'approve', device: null } })).toMatchObject({
    refusal: { code: 'device-signature-required' },
  });
  /** Returns the answer of a co-signer under version 1 to the stored mandate. */
  const isAccepted = async () => {
    const { policy, mandate } = policyWithMandateOf(encodePolicy(present(storage.policies.adoptedAs(2))));
    const fault = await successionFault(byDevice, policy, mandate);
    return fault === null && !isExpired(present(mandate), Date.now());
  };
  expect(await approve(LAPTOP)).toBe('PENDING');
  expect(await isAccepted()).toBe(false);
  expect(await approve(PHONE)).toBe('ADOPTED');
  expect(await isAccepted()).toBe(true);
});
