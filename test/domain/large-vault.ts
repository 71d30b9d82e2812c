import { randomBytes } from '@noble/hashes/utils.js';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { mandateDigest, policyHashOf } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { newPolicyChangeId, sortedUserIds } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { Authenticator } from '../devices/authenticator.ts';
import { actor, policy } from './cast.ts';
import { founded } from '../cosigner/policy/device-scene.ts';

/**
 * A vault of the largest size: 50 signers with a script device and a passkey each, and 1,000
 * policies of about 20 KB.
 */

const SIGNERS = 50;
export const POLICIES = 1_000;

export const signers: readonly Actor[] = Array.from({ length: SIGNERS }, (_, i) => actor(i + 1));
const scripts = signers.map(() => ScriptDevice.create());
const passkeys = signers.map(({ userId }) => new Authenticator(userId));

export const devices = sortedByKeyId([
  ...signers.map(({ userId }, i) => scripts[i]?.asDevice(userId) ?? absent()),
  ...passkeys.map(({ passkey }) => passkey),
]);

export const largePolicy: Policy = {
  ...policy,
  signers: sortedUserIds(signers.map(({ userId }) => userId)),
  approvalMode: 'device',
  devices,
};

/** Returns the approvals of a digest by this number of signers, with their script devices. */
export function approvalsOf(digest: string, count: number): readonly Approval[] {
  const approving = signers.slice(0, count);
  return approving.map((approver, i) => ({
    actor: approver,
    digest,
    device: scripts[i]?.signed(digest) ?? absent(),
    atMs: Date.now(),
  }));
}

/**
 * Returns the next policy, by default with the threshold two or one, with a mandate of as many
 * signers as its predecessor needs.
 */
export function changeOf(
  before: Policy,
  { note = null, patch = {} }: { readonly note?: string | null; readonly patch?: Partial<Policy> } = {},
): AdoptedPolicy & { readonly mandate: NonNullable<AdoptedPolicy['mandate']> } {
  const next: Policy = {
    ...before,
    version: before.version + 1,
    threshold: before.threshold === 1 && before.signers.length > 1 ? 2 : 1,
    ...patch,
    previousHash: policyHashOf(before),
  };
  const createdAtMs = Date.now() - 1_000;
  const id = newPolicyChangeId(createdAtMs, randomBytes(10));
  const terms = { id, note, createdAtMs, expiresAtMs: createdAtMs + 24 * 60 * 60 * 1000 };
  const approvals = approvalsOf(mandateDigest(terms, next), before.threshold);
  const counted = before.approvalMode === 'device' ? approvals : approvals.map((one) => ({ ...one, device: null }));
  return { policy: next, mandate: { ...terms, policy: next, approvals: counted } };
}

/** Returns the first policy of a vault, founded by these devices. */
export function foundedLarge(first: Policy): AdoptedPolicy {
  return founded(first, ...scripts, ...passkeys);
}

/** Returns the policies of a vault that changed its threshold again and again. */
export function historyOf(first: Policy, length: number, options?: Parameters<typeof changeOf>[1]): AdoptedPolicy[] {
  const adopted: AdoptedPolicy[] = [foundedLarge(first)];
  while (adopted.length < length) adopted.push(changeOf(adopted.at(-1)?.policy ?? first, options));
  return adopted;
}

function absent(): never {
  throw new Error('every signer has a device');
}
