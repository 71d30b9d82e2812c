import { expect, test } from 'vitest';
import type { Actor, Approval } from '#domain/access/approval.ts';
import type { Device } from '#domain/access/device.ts';
import { changedDevice } from '#domain/access/device.ts';
import { hasRequiredDevice, isRequiredDevice } from '#domain/policy/counted-approvals.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { awaitsApprovalOf } from '#domain/transaction/approvals.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { decide } from '#domain/transaction/transition.ts';
import { keyOf } from '../access/devices.ts';
import { alice, approvalBy, bob, carol, DIGEST, mallory, NOON_MS, policy, transactionIn, UNSPENT } from '../cast.ts';

/** Covers the rule that one approval comes from a device outside a browser (`requiredDevice`). */

function deviceOf({ userId }: Actor, number: number, algorithm: Device['algorithm']): Device {
  const key = { keyId: keyOf(number), userId, publicKey: String(number).padStart(64, '0') };
  if (algorithm === 'ed25519') return { ...key, algorithm };
  return { ...key, algorithm, credentialId: 'A'.repeat(22), rpId: 'example.com', origin: 'https://example.com' };
}

const devices = [
  deviceOf(alice, 1, 'webauthn-p256'),
  deviceOf(bob, 2, 'webauthn-p256'),
  deviceOf(carol, 3, 'ed25519'),
  deviceOf(alice, 4, 'ed25519'),
];
const strict: Policy = {
  ...policy,
  approvalMode: 'device',
  devices,
  rules: { ...policy.rules, requiredDevice: 'ed25519' },
};
const lenient: Policy = { ...strict, rules: { ...policy.rules, requiredDevice: 'any' } };
const silent: Policy = { ...strict, rules: policy.rules };

const signature = (number: number) => {
  const keyId = devices[number - 1]?.keyId;
  if (keyId === undefined) throw new Error('there is no such device');
  return { keyId, signature: 'AA', assertion: null };
};
const by = (actor: Actor, number: number): Approval => ({ ...approvalBy(actor), device: signature(number) });
const approve = (actor: Actor, number: number): TransactionEvent => {
  return { type: 'approve', actor, digest: DIGEST, device: signature(number) };
};

test('only a device of the required kind meets the rule, and without the rule every approval does', () => {
  const browsers = [by(alice, 1), by(bob, 2)];
  expect(hasRequiredDevice(DIGEST, browsers, strict)).toBe(false);
  expect(hasRequiredDevice(DIGEST, [...browsers, by(carol, 3)], strict)).toBe(true);
  expect(hasRequiredDevice('d2'.repeat(32), [by(carol, 3)], strict)).toBe(false);
  for (const free of [lenient, silent]) {
    expect(hasRequiredDevice(DIGEST, [], free)).toBe(true);
    expect(isRequiredDevice(null, free)).toBe(true);
  }
  expect(devices.map(({ keyId }) => isRequiredDevice(keyId, strict))).toEqual([false, false, true, true]);
  expect(isRequiredDevice(null, strict)).toBe(false);
});

/** Returns the record after the approvals, by the strict policy. */
function approved(...events: readonly TransactionEvent[]) {
  return events.reduce(
    (record, event) => {
      const decided = decide(record, event, { nowMs: NOON_MS, policy: strict, spentOf: UNSPENT });
      if (!decided.ok) throw new Error(decided.refusal.code);
      return decided.value.transaction;
    },
    transactionIn('SUBMITTED', { approvals: [] }),
  );
}

test('a payment waits for the required device although enough signers approved it', () => {
  const waiting = approved(approve(alice, 1), approve(bob, 2));
  expect([waiting.state, waiting.approvals.length]).toEqual(['SUBMITTED', 2]);
  expect(approved(approve(alice, 1), approve(bob, 2), approve(carol, 3)).state).toBe('SIGNING');
  // A signer who approved with another device can still give the required one.
  expect(approved(approve(alice, 1), approve(bob, 2), approve(alice, 4)).state).toBe('SIGNING');
  const repeated = approved(approve(alice, 1), approve(bob, 2), approve(alice, 1));
  expect(repeated.approvals).toHaveLength(2);
});

const member = ({ userId }: Actor, roles: readonly ('signer' | 'viewer' | 'initiator')[] = ['signer']) => {
  return { userId, roles };
};

test('a payment waits for signers who have not approved it, or who have the required device', () => {
  const record = transactionIn('SUBMITTED', { approvals: [by(alice, 1)] });
  const waits = (actor: Actor, judge: Policy) => awaitsApprovalOf(member(actor), record, judge);
  expect([waits(alice, lenient), waits(bob, lenient)]).toEqual([false, true]);
  expect([waits(alice, strict), waits(bob, strict)]).toEqual([true, true]);
  const met = transactionIn('SUBMITTED', { approvals: [by(carol, 3)] });
  expect(awaitsApprovalOf(member(carol), met, strict)).toBe(false);
  for (const role of ['viewer', 'initiator'] as const) {
    expect(awaitsApprovalOf(member(mallory, [role]), record, strict)).toBe(false);
  }
});

test('a device with the same key and another domain is a changed device, and an added or removed one is not', () => {
  const [passkey, , terminal] = devices;
  if (passkey === undefined || terminal === undefined) throw new Error('the devices exist');
  const moved = { ...passkey, rpId: 'evil.example' };
  expect(changedDevice(devices, [terminal, moved])).toBe(passkey.keyId);
  expect(changedDevice(devices, devices)).toBeNull();
  expect(changedDevice(devices, [terminal])).toBeNull();
  expect(changedDevice([terminal], devices)).toBeNull();
});
