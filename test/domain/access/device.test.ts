import { expect, test } from 'vitest';
import { countedApprovers } from '#domain/policy/counted-approvals.ts';
import type { Device, DeviceSignature } from '#domain/access/device.ts';
import {
  APPROVAL_MODES,
  DEVICE_ALGORITHMS,
  enrolmentBytes,
  sortedByKeyId,
  MAX_DEVICES,
} from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import {
  draftFault,
  missingDeviceFault,
  policyBytes,
  policyFault,
  signersWithoutDevice,
} from '#domain/policy/policy.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { TransactionState } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import { decide } from '#domain/transaction/transition.ts';
import { alice, bob, carol, DIGEST, mallory, NOON_MS, policy, transactionIn, UNSPENT, approvalBy } from '../cast.ts';
import { deviceOf, keyOf } from './devices.ts';

/**
 * Covers which approvals count in a vault with devices. The tests in test/devices cover the
 * signatures themselves.
 */

const devices = [deviceOf(alice, 1), deviceOf(alice, 2), deviceOf(bob, 3), deviceOf(carol, 4)];
const byDevice: Policy = { ...policy, approvalMode: 'device', devices };
const signedBy = (number: number): DeviceSignature => ({ keyId: keyOf(number), signature: 'AA', assertion: null });
const approvalOf = (actor: Actor, number: number) => ({ ...approvalBy(actor), device: signedBy(number) });

test.each<[string, Partial<Policy>, string]>([
  [
    'more devices than the maximum',
    { devices: Array.from({ length: MAX_DEVICES + 1 }, (_, i) => deviceOf(alice, i)) },
    'too-many-devices',
  ],
  ['one device twice', { devices: [deviceOf(alice, 1), deviceOf(bob, 1), deviceOf(carol, 2)] }, 'devices-not-sorted'],
  ['out of order', { devices: [deviceOf(alice, 2), deviceOf(bob, 1), deviceOf(carol, 3)] }, 'devices-not-sorted'],
  ['a device of a user who is not a signer', { devices: [...devices, deviceOf(mallory, 5)] }, 'device-of-nobody'],
  ['no device of one signer', { devices: devices.slice(0, 3) }, 'signer-without-device'],
  ['no device at all', { devices: [] }, 'signer-without-device'],
])('a policy of devices with %s is invalid', (_name, differences, fault) => {
  expect(policyFault({ ...byDevice, ...differences })).toBe(fault);
});

test('a draft may lack devices in device mode, and nothing else that a policy has', () => {
  const empty: Policy = { ...byDevice, devices: [] };
  expect([draftFault(empty), missingDeviceFault(empty)]).toEqual([null, 'signer-without-device']);
  expect(signersWithoutDevice(empty)).toEqual(empty.signers);
  const required: Policy = { ...byDevice, rules: { ...byDevice.rules, requiredDevice: 'ed25519' } };
  expect([draftFault(required), missingDeviceFault(required)]).toEqual([null, null]);
  const passkeys: Policy = {
    ...required,
    devices: devices.map(({ keyId, userId, publicKey }) => {
      const passkey = { credentialId: 'c', rpId: 'example.com', origin: 'https://example.com' };
      return { keyId, userId, publicKey, algorithm: 'webauthn-p256' as const, ...passkey };
    }),
  };
  expect([draftFault(passkeys), missingDeviceFault(passkeys)]).toEqual([null, 'required-device-missing']);
  expect(draftFault({ ...empty, threshold: 0 })).toBe('threshold-out-of-range');
  expect(draftFault({ ...byDevice, devices: [...devices, deviceOf(mallory, 5)] })).toBe('device-of-nobody');
  expect(draftFault({ ...empty, rules: { ...empty.rules, unreadableThreshold: 9 } })).toBe('step-out-of-range');
  expect(draftFault({ ...required, approvalMode: 'token' })).toBe('required-device-missing');
});

test('a policy has a hundred devices at most, ordered by their keys', () => {
  const many = (count: number) => Array.from({ length: count }, (_, i) => deviceOf(alice, i + 1));
  expect(MAX_DEVICES).toBe(100);
  const waiting = (list: readonly Device[]) => policyFault({ ...policy, devices: list });
  expect([waiting(many(100)), waiting(many(101))]).toEqual([null, 'too-many-devices']);
  const [one, two, three] = many(3);
  if (one === undefined || two === undefined || three === undefined) throw new Error('there are three');
  for (const list of [
    [one, two, three],
    [three, two, one],
    [two, three, one],
    [three, one, two],
  ]) {
    expect(sortedByKeyId(list)).toEqual([one, two, three]);
  }
});

test('the ways to sign and the approval modes have their published names', () => {
  expect([DEVICE_ALGORITHMS, APPROVAL_MODES]).toEqual([
    ['ed25519', 'webauthn-p256'],
    ['token', 'device'],
  ]);
});

test('the hashed form of a device names each of its values', () => {
  const script = deviceOf(alice, 1);
  const passkey: Device = {
    ...script,
    algorithm: 'webauthn-p256',
    credentialId: 'A'.repeat(22),
    rpId: 'example.com',
    origin: 'https://example.com',
  };
  const common = [
    ['userId', alice.userId],
    ['algorithm', 'ed25519'],
    ['publicKey', script.publicKey],
  ];
  const none = ['credentialId', 'rpId', 'origin'].map((name) => [name, null]);
  expect(readCanonical(enrolmentBytes(script))).toEqual({ domain: 'conclave/device/v1', fields: [...common, ...none] });
  expect(readCanonical(enrolmentBytes(passkey)).fields).toEqual([
    common[0],
    ['algorithm', 'webauthn-p256'],
    common[2],
    ['credentialId', 'A'.repeat(22)],
    ['rpId', 'example.com'],
    ['origin', 'https://example.com'],
  ]);
});

test('a policy may list devices before its mode counts them', () => {
  expect(policyFault(byDevice)).toBeNull();
  expect(policyFault({ ...byDevice, approvalMode: 'token', devices: devices.slice(0, 1) })).toBeNull();
});

test('every change to a device, or to how approvals count, gives another policy hash', () => {
  const [first, ...rest] = devices;
  if (first === undefined) throw new Error('there are devices');
  const passkey: Device = {
    ...first,
    algorithm: 'webauthn-p256',
    credentialId: 'A'.repeat(22),
    rpId: 'example.com',
    origin: 'https://example.com',
  };
  const others: readonly Policy[] = [
    policy,
    byDevice,
    { ...byDevice, approvalMode: 'token' },
    { ...byDevice, devices: rest },
    { ...byDevice, devices: [{ ...first, userId: bob.userId }, ...rest] },
    { ...byDevice, devices: [{ ...first, publicKey: 'f'.repeat(64) }, ...rest] },
    ...[
      passkey,
      { ...passkey, credentialId: 'B'.repeat(22) },
      { ...passkey, rpId: 'example.org' },
      { ...passkey, origin: 'https://example.org' },
    ].map((device): Policy => ({ ...byDevice, devices: [device, ...rest] })),
  ];
  const texts = new Set(others.map((one) => Buffer.from(policyBytes(one)).toString('hex')));
  expect(texts.size).toBe(others.length);
  expect(Buffer.from(enrolmentBytes(first))).not.toEqual(Buffer.from(enrolmentBytes(passkey)));
});

test.each<[string, Parameters<typeof countedApprovers>[1], number]>([
  ['two people with a device each', [approvalOf(alice, 1), approvalOf(bob, 3)], 2],
  ['one person with two devices', [approvalOf(alice, 1), approvalOf(alice, 2)], 1],
  ['tokens alone', [approvalBy(alice), approvalBy(bob), approvalBy(carol)], 0],
  ['a token beside a device', [approvalOf(alice, 1), approvalBy(bob)], 1],
  ['a signer who uses the device of another signer', [approvalOf(alice, 1), approvalOf(bob, 2)], 1],
  ['a device that is not enrolled', [approvalOf(alice, 9)], 0],
  ['an outsider with the device of a signer', [approvalOf(mallory, 1)], 0],
  ['an approval of something else', [{ ...approvalOf(alice, 1), digest: 'd2'.repeat(32) }], 0],
])('approvals count correctly for %s', (_name, approvals, count) => {
  expect(countedApprovers(DIGEST, approvals, byDevice).size).toBe(count);
});

const now = { nowMs: NOON_MS, policy: byDevice, spentOf: UNSPENT };
const approves = (actor: Actor, device: DeviceSignature | null): TransactionEvent => {
  return { type: 'approve', actor, digest: DIGEST, device };
};

test('an approval without a device signature is refused, and an approval by a second device of the same signer adds nothing', () => {
  const pending = transactionIn('SUBMITTED');
  expect(decide(pending, approves(alice, null), now)).toEqual({
    ok: false,
    refusal: { code: 'device-signature-required' },
  });
  const first = decide(pending, approves(alice, signedBy(1)), now);
  if (!first.ok) throw new Error(first.refusal.code);
  expect(first.value.transaction.approvals).toEqual([{ ...approvalOf(alice, 1), atMs: NOON_MS }]);
  expect(decide(first.value.transaction, approves(alice, signedBy(2)), now)).toMatchObject({
    value: { changed: false },
  });
  expect(decide(first.value.transaction, approves(bob, signedBy(3)), now)).toMatchObject({
    value: { transaction: { state: 'SIGNING' } },
  });
});

test('in device mode a rejection needs a device, and stops also what is approved and not mined', () => {
  const rejects = (device: DeviceSignature | null) => ({ type: 'reject', actor: bob, device }) as const;
  for (const state of ['SUBMITTED', 'SIGNING', 'BROADCAST'] as const) {
    const refused = decide(transactionIn(state), rejects(null), now);
    expect(refused).toEqual({ ok: false, refusal: { code: 'device-signature-required' } });
  }
  const stateAfter = (state: TransactionState) => {
    const decided = decide(transactionIn(state), rejects(signedBy(3)), now);
    if (!decided.ok) return decided.refusal.code;
    const { transaction } = decided.value;
    expect(transaction.rejection).toEqual({ actor: bob, digest: DIGEST, device: signedBy(3), atMs: NOON_MS });
    return [transaction.state, transaction.stateReason, transaction.cancelling];
  };
  expect(stateAfter('SUBMITTED')).toEqual(['REJECTED', 'REJECTED_BY_SIGNER', false]);
  expect(stateAfter('SIGNING')).toEqual(['SIGNING', 'CANCELLING', true]);
  expect(stateAfter('BROADCAST')).toEqual(['BROADCAST', 'CANCELLING', true]);
  expect(stateAfter('SUCCEEDED')).toBe('transaction-not-pending');
});

test('approvals by token are dropped when devices begin to count, and approvals of a device are dropped with the device', () => {
  const mixed = transactionIn('SUBMITTED', { approvals: [approvalBy(alice), approvalOf(bob, 3)] });
  const dropped = decide(mixed, { type: 'dropVotes', policy: byDevice, disabledAccess: [] }, now);
  expect(dropped).toMatchObject({ value: { transaction: { approvals: [{ actor: bob }] } } });
  const without: Policy = { ...byDevice, devices: devices.filter(({ userId }) => userId !== bob.userId) };
  expect(decide(mixed, { type: 'dropVotes', policy: without, disabledAccess: [] }, now)).toMatchObject({
    value: { transaction: { approvals: [] } },
  });
});
