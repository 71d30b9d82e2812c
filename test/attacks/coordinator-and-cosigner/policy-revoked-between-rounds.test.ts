/**
 * Attack: the coordinator delays the last round until a device is revoked or the signing time is
 *   over, and then requests it.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 3
 * Defence: before the last round a co-signer repeats the checks of `open`, with its current
 *   policies and clock.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { policyHashOf, successionFault } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import { signingEndsAtMs } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { alice, bob, carol, NOON_MS, policy } from '../../domain/cast.ts';
import { digestOf, next, request } from '../../cosigner/policy/check-scene.ts';
import type { Paused } from '../../cosigner/session/last-round-scene.ts';
import { pausedSignature } from '../../cosigner/session/last-round-scene.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOON_MS }));
afterEach(() => void vi.useRealTimers());

const people = [alice, bob, carol].map((actor) => ({ actor, device: ScriptDevice.create() }));
const [ofAlice, ofBob, ofCarol] = people.map(({ actor, device }) => device.asDevice(actor.userId));
const withAll: Policy = {
  ...policy,
  approvalMode: 'device',
  devices: sortedByKeyId([ofAlice!, ofBob!, ofCarol!]),
};
/** The policy after bob's phone was stolen. Alice and carol have removed it. */
const withoutBobs = next(withAll, {
  signers: [alice.userId, carol.userId],
  devices: sortedByKeyId([ofAlice!, ofCarol!]),
});

function signedBy(digest: string, ...actors: readonly Actor[]): readonly Approval[] {
  return people
    .filter(({ actor }) => actors.includes(actor))
    .map(({ actor, device }) => ({ actor, digest, device: device.signed(digest), atMs: NOON_MS }));
}

/**
 * Begins the signature of a theft that bob's stolen phone and a careless alice approved while the
 * phone still counted.
 */
async function theft() {
  const paused = await pausedSignature(withAll);
  const intent = paused.transfer(withAll);
  return { ...paused, intent, request: request({ approvals: signedBy(digestOf(intent), alice, bob) }, intent) };
}

/** Makes the co-signer adopt the policy without the stolen phone, approved by alice and carol. */
async function revoke({ vault }: Pick<Paused, 'vault'>): Promise<void> {
  const terms = { id: newPolicyChangeId(NOON_MS, new Uint8Array(10)), note: null };
  const mandate = { ...terms, createdAtMs: NOON_MS, expiresAtMs: NOON_MS + 3_600_000 };
  const digest = bytesToHex(sha256(mandateBytes(mandate, policyHashOf(withoutBobs))));
  const approvals = signedBy(digest, alice, carol);
  expect(await successionFault(withAll, withoutBobs, { ...mandate, approvals })).toBeNull();
  vault.adopt([withoutBobs]);
}

test('the coordinator and the hostile co-signer get the signature while the policy has both devices', async () => {
  const { sign, request: signing } = await theft();
  expect(await sign(signing, async () => {})).toBe('signs');
});

test('a signature fails in the last round if a device is revoked between the rounds', async () => {
  const paused = await theft();
  expect(await paused.sign(paused.request, () => revoke(paused))).toBe('sign/not-allowed');
});

test('a signature fails in the last round if its signing time is over', async () => {
  const { sign, request: signing, intent } = await theft();
  expect(await sign(signing, async () => void vi.setSystemTime(signingEndsAtMs(intent)))).toBe('sign/not-allowed');
});

test('a stolen old share cannot complete a session that was opened before the refresh', async () => {
  const { sign, request: signing, refresh } = await theft();
  expect(await sign(signing, refresh)).toBe('sign/not-allowed');
});
