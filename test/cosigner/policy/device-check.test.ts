import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { successionFault, policyHashOf } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Intent, OnChainIntent, TransferIntent } from '#domain/transaction/intent.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import { alice, amount, bob, carol, NOON_MS } from '../../domain/cast.ts';
import { answer, digestOf, intent, next, OTHER, request, approvalsBy } from './check-scene.ts';
import { byDevice, laptop, phone } from './device-scene.ts';

/**
 * Tests the decision of one co-signer in device mode: it verifies each device signature by itself.
 */

const bound: TransferIntent = { ...intent, policyHash: policyHashOf(byDevice) };
const held = { policies: [byDevice] };
const approvalOf = (actor: Actor, device: DeviceSignature | null, of: Intent = bound): Approval => {
  return { actor, digest: digestOf(of), device, atMs: NOON_MS };
};
const byAlice = (of: Intent = bound) => approvalOf(alice, laptop.signed(digestOf(of)), of);
const byBob = (of: Intent = bound) => approvalOf(bob, phone.signed(digestOf(of)), of);
const send = (approvals: readonly Approval[], of: OnChainIntent = bound) => answer(request({ approvals }, of), held);

test('a script device and a passkey of two signers are a quorum', async () => {
  expect(await send([byAlice(), byBob()])).toBe('signs');
});

test.each<[string, () => readonly Approval[]]>([
  ['invents both approvals', () => approvalsBy(bound, alice, bob)],
  ['invents the second approval', () => [byAlice(), approvalOf(bob, null)]],
  ['passes the first signature off as that of the second signer', () => [byAlice(), { ...byAlice(), actor: bob }]],
  ['signs with a device of its own', () => [byAlice(), approvalOf(bob, ScriptDevice.create().signed(digestOf(bound)))]],
  [
    'signs with its own device under the name of the right one',
    () => {
      const own = new Authenticator(bob.userId);
      return [byAlice(), approvalOf(bob, { ...own.signed(digestOf(bound)), keyId: phone.passkey.keyId })];
    },
  ],
  [
    'replays a signature for another transfer',
    () => [byAlice(), { ...byBob({ ...bound, to: OTHER }), digest: digestOf(bound) }],
  ],
  [
    'has the passkey sign on a page of its own',
    () => [byAlice(), approvalOf(bob, phone.signed(digestOf(bound), { origin: 'https://mallory.example' }))],
  ],
  [
    'has the passkey sign while its owner is absent',
    () => [byAlice(), approvalOf(bob, phone.signed(digestOf(bound), { flags: 0b001 }))],
  ],
  ['sends one signature three times', () => [byAlice(), byAlice(), byAlice()]],
])('a coordinator that %s gets no signature', async (_name, approvals) => {
  expect(await send(approvals())).toBe('not-enough-approvals');
});

test('the device signatures cover every field of the intent', async () => {
  const changes: readonly Partial<TransferIntent>[] = [
    { to: OTHER },
    { amount: amount('1001') },
    { maxFee: amount('42000001') },
    { note: 'urgent' },
    { expiresAtMs: bound.expiresAtMs + 1 },
  ];
  for (const change of changes) {
    const changed = { ...bound, ...change };
    const moved = [byAlice(), byBob()].map((one) => ({ ...one, digest: digestOf(changed) }));
    expect([change, await send(moved, changed)]).toEqual([change, 'not-enough-approvals']);
  }
});

test('a policy change back to tokens needs device signatures', async () => {
  const back = next(byDevice, { approvalMode: 'token' });
  const id = newPolicyChangeId(NOON_MS, new Uint8Array(10));
  const terms = { id, note: null, createdAtMs: NOON_MS, expiresAtMs: NOON_MS + 1 };
  const digest = bytesToHex(sha256(mandateBytes(terms, policyHashOf(back))));
  const mandate = (...approvals: readonly Approval[]) => ({ ...terms, approvals });
  const said = (actor: Actor, device: DeviceSignature | null): Approval => ({ actor, digest, device, atMs: NOON_MS });
  const signed = [said(alice, laptop.signed(digest)), said(bob, phone.signed(digest))];
  expect(await successionFault(byDevice, back, mandate(...signed))).toBeNull();
  expect(
    await successionFault(byDevice, back, mandate(said(alice, null), said(bob, null), said(carol, null))),
  ).not.toBeNull();
  expect(await successionFault(byDevice, back, mandate(...signed.slice(0, 1), said(bob, null)))).not.toBeNull();
  // Signatures for a transfer do not count for a policy.
  const stolen = [byAlice(), byBob()].map((one) => ({ ...one, digest }));
  expect(await successionFault(byDevice, back, mandate(...stolen))).not.toBeNull();
  // The coordinator cannot add a device that the signers have not approved.
  const mallorys = ScriptDevice.create().asDevice(bob.userId);
  const wider = { ...back, devices: sortedByKeyId([...back.devices, mallorys]) };
  expect(await successionFault(byDevice, wider, mandate(...signed))).not.toBeNull();
});

test('an approval of a removed device no longer counts', async () => {
  const lost = next(byDevice, {
    devices: byDevice.devices.filter(({ userId }) => userId !== bob.userId),
    approvalMode: 'device',
  });
  const requested = request({ approvals: [byAlice(), byBob()], policyVersion: 2 }, bound);
  expect(await answer(requested, { policies: [byDevice, lost] })).toBe('not-enough-approvals');
});
