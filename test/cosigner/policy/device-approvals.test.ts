import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { ThresholdSignRequest } from '../threshold-sign.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { alice, bob, carol } from '../../domain/cast.ts';
import { byDevice, laptop, phone, founded } from './device-scene.ts';
import type { Cosigners, TransferOptions } from '../cosigners.ts';
import { approvedTransfer, newKey, startCosigners, approvalBy } from '../cosigners.ts';
import { refusedByAll } from '../rejected-requests.ts';

/**
 * Tests three real co-signers of a vault in which devices sign. The attacker controls the
 * coordinator with every database, queue and credential of the service, but neither alice's laptop
 * nor bob's phone.
 */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all, { governedBy: byDevice });
});
afterAll(() => cosigners.stop());

const approvalOf = (actor: Actor, digest: string, device: DeviceSignature | null): Approval => ({
  ...approvalBy(actor, digest),
  device,
});
const bothApprovals = (digest: string) => [
  approvalOf(alice, digest, laptop.signed(digest)),
  approvalOf(bob, digest, phone.signed(digest)),
];

/**
 * Returns a transfer with approvals that the coordinator invents: token approvals of all three
 * signers.
 */
function invented(differences: Partial<TransferOptions> = {}) {
  const options = { key, governedBy: byDevice, approvedBy: [alice, bob, carol], ...differences };
  return { ...approvedTransfer(options), policies: [founded(byDevice)] };
}

/** Returns the same transfer with the signatures of alice's laptop and bob's phone. */
function signedByBoth(differences: Partial<TransferOptions> = {}) {
  const request = invented(differences);
  return { ...request, approvals: bothApprovals(request.transaction.digest) };
}

test('a transfer that alice’s laptop and bob’s phone have signed is signed', async () => {
  expect(await thresholdSign(cosigners.all, signedByBoth())).toMatchObject({ ok: true });
});

test('approvals that the coordinator invents do not count, whichever signers it names', async () => {
  await refusedByAll(cosigners, invented(), 'not-enough-approvals');
  const half = invented();
  const [hers] = bothApprovals(half.transaction.digest);
  if (hers === undefined) throw new Error('alice has approved');
  await refusedByAll(cosigners, { ...half, approvals: [hers, ...half.approvals] }, 'not-enough-approvals');
});

test('approvals of one transfer do not count for a transfer to another recipient, whichever digest they claim', async () => {
  const honest = signedByBoth();
  const swapped = invented({ to: '0x6666666666666666666666666666666666666666' });
  await refusedByAll(cosigners, { ...swapped, approvals: honest.approvals }, 'not-enough-approvals');
  const renamed = honest.approvals.map((one) => ({ ...one, digest: swapped.transaction.digest }));
  await refusedByAll(cosigners, { ...swapped, approvals: renamed }, 'not-enough-approvals');
});

test('token approvals do not adopt a policy that allows tokens again or adds the attacker’s devices', async () => {
  const mine = ScriptDevice.create().asDevice(alice.userId);
  const others: readonly Policy[] = [
    { ...byDevice, approvalMode: 'token' },
    { ...byDevice, devices: sortedByKeyId([...byDevice.devices, mine]) },
    { ...byDevice, threshold: 1 },
  ];
  for (const other of others) {
    const next: Policy = { ...other, version: 2, previousHash: policyHashOf(byDevice) };
    const terms = { id: newPolicyChangeId(Date.now(), new Uint8Array(10)), note: null };
    const mandate = { ...terms, createdAtMs: Date.now(), expiresAtMs: Date.now() + 1000 };
    const digest = bytesToHex(sha256(mandateBytes(mandate, policyHashOf(next))));
    const approvals = [alice, bob, carol].map((actor) => approvalOf(actor, digest, null));
    const misled = bothApprovals(policyHashOf(next)).map((one) => ({ ...one, digest }));
    for (const said of [approvals, misled]) {
      const request: ThresholdSignRequest = {
        ...invented({ governedBy: next }),
        policies: [founded(byDevice), { policy: next, mandate: { ...mandate, policy: next, approvals: said } }],
      };
      const outcome = await thresholdSign(cosigners.all, request);
      expect([other.approvalMode, outcome.ok, outcome.ok ? '' : outcome.reason]).toEqual([
        other.approvalMode,
        false,
        expect.stringContaining('policy-mismatch'),
      ]);
    }
  }
  // After these attacks, an intent that the signers approve is still signed.
  expect(await thresholdSign(cosigners.all, signedByBoth())).toMatchObject({ ok: true });
});

test('a policy with a device that has another device’s name or an invalid key is refused', async () => {
  const [first, ...rest] = byDevice.devices;
  if (first === undefined) throw new Error('there are devices');
  const renamed = [
    { ...first, keyId: `dev_${'0'.repeat(32)}` },
    { ...first, publicKey: `01${'00'.repeat(31)}` },
    { ...first, origin: 'https://mallory.example' },
    { ...first, extra: '' },
  ];
  for (const device of renamed) {
    const next = { ...byDevice, version: 2, devices: [device, ...rest] } as Policy;
    const answer = await cosigners.all[0].call(`vault/${next.vaultId}/policy`, {
      policies: [encodePolicy(founded(next))],
      chosen: {},
      adopted: {},
    });
    expect(answer.ok ? 'adopted' : answer.refusal.code).toMatch(/malformed|policy-mismatch/);
  }
});
