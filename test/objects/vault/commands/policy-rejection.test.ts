import { expect, test } from 'vitest';
import { rejectionOf } from '#devices/rejection.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import type { Actor } from '#domain/access/approval.ts';
import { decidePolicyChange, proposePolicy } from '#objects/vault/commands/policy.ts';
import type { Signs } from '../../../attacks/policy-scene.ts';
import { LAPTOP, NEW_LAPTOP, PHONE, revoked } from '../../../attacks/policy-scene.ts';
import { present } from '../../../chains/evm/cast.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import { alice, bob, carol } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

/** Covers which device signature rejects a policy change. All three signers must approve. */

async function newScene(differences: Partial<Policy> = {}) {
  const { host, storage, replaceVault } = newVaultScene();
  const members = [alice, bob, carol].map(({ userId }) => ({ userId, roles: ['signer'] as const }));
  const policy: Policy = { ...byDevice, threshold: 3, ...differences };
  const vault = { ...present(host.vault()), policy, members };
  replaceVault(vault);
  storage.putVault(vault);
  storage.policies.adopt({ policy, mandate: null }, policyHashOf(policy));
  const propose = async (patch: { readonly threshold: number }) => {
    const proposed = await proposePolicy(host, carol, { patch: { ...patch, rules: {} }, note: null });
    if (!proposed.ok) throw new Error(JSON.stringify(proposed.refusal));
    return proposed.value.change;
  };
  const decide = async (
    type: 'approve' | 'reject',
    change: PolicyChange,
    by: Actor,
    device: DeviceSignature | null,
  ) => {
    const decided = await decidePolicyChange(host, by, { id: change.id, decision: { type, device } });
    return decided.ok ? decided.value.change.state : decided.refusal.code;
  };
  const stored = ({ id }: PolicyChange) => present(storage.policies.change(id));
  return { propose, decide, stored };
}

const rejects = ({ device }: Signs, change: PolicyChange) => device.signed(rejectionOf(change).digest);
const approves = ({ device }: Signs, change: PolicyChange) => device.signed(change.digest);

test('a rejection with the signature of an own device ends a change, and is stored with the signature', async () => {
  for (const signs of [LAPTOP, PHONE]) {
    const { propose, decide, stored } = await newScene();
    const change = await propose({ threshold: 2 });
    const signature = rejects(signs, change);
    expect(await decide('reject', change, signs.actor, signature)).toBe('REJECTED');
    expect(stored(change).rejections).toMatchObject([
      { actor: { userId: signs.actor.userId }, digest: change.digest, device: signature },
    ]);
  }
});

test('a bare token does not reject a change, and a refused rejection changes nothing', async () => {
  const { propose, decide, stored } = await newScene();
  const change = await propose({ threshold: 2 });
  expect(await decide('approve', change, alice, approves(LAPTOP, change))).toBe('PENDING');
  const before = stored(change);
  expect(await decide('reject', change, alice, null)).toBe('device-signature-required');
  expect(await decide('reject', change, carol, null)).toBe('device-signature-required');
  expect(stored(change)).toEqual(before);
});

test('the signature of an approval is no rejection, and the signature of a rejection is no approval', async () => {
  const { propose, decide, stored } = await newScene();
  const change = await propose({ threshold: 2 });
  for (const signs of [LAPTOP, PHONE]) {
    expect(await decide('reject', change, signs.actor, approves(signs, change))).toBe('device-signature-refused');
    expect(await decide('approve', change, signs.actor, rejects(signs, change))).toBe('device-signature-refused');
  }
  expect(stored(change)).toMatchObject({ state: 'PENDING', approvals: [], rejections: [] });
});

test('the device of another signer, a removed device, and the rejection of another change reject nothing', async () => {
  const { propose, decide, stored } = await newScene();
  const [change, other] = [await propose({ threshold: 2 }), await propose({ threshold: 1 })];
  expect(await decide('reject', change, bob, rejects(LAPTOP, change))).toBe('device-signature-refused');
  expect(await decide('reject', change, alice, rejects(NEW_LAPTOP, change))).toBe('device-signature-refused');
  expect(await decide('reject', change, alice, rejects(LAPTOP, other))).toBe('device-signature-refused');
  expect(stored(change)).toMatchObject({ state: 'PENDING', rejections: [] });
  const later = await newScene({ devices: revoked.devices });
  const next = await later.propose({ threshold: 2 });
  expect(await later.decide('reject', next, alice, rejects(LAPTOP, next))).toBe('device-signature-refused');
  expect(await later.decide('reject', next, alice, rejects(NEW_LAPTOP, next))).toBe('REJECTED');
});

test('in token mode a token rejects a change, and a signature that is not required must be valid', async () => {
  const { propose, decide } = await newScene({ approvalMode: 'token' });
  const change = await propose({ threshold: 2 });
  expect(await decide('reject', change, alice, approves(LAPTOP, change))).toBe('device-signature-refused');
  expect(await decide('reject', change, alice, null)).toBe('REJECTED');
});
