import { randomBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, vi } from 'vitest';
import { mandateDigest, nameOf, policyHashOf } from '#devices/policy-succession.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { byDevice, laptop, phone, founded } from '../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../cosigner/cosigners.ts';
import { newKey, present, startCosigners } from '../cosigner/cosigners.ts';
import { alice, bob, carol } from '../domain/cast.ts';

/**
 * A vault in device mode that changes its policy. Under version 1 alice has a laptop and bob a
 * phone. Version 2 revokes both devices, and gives alice and bob new ones.
 */

/** A signer and the device that signs for this signer. */
export interface Signs {
  readonly actor: Actor;
  readonly device: { signed(digest: string): DeviceSignature };
}

export const LAPTOP: Signs = { actor: alice, device: laptop };
export const PHONE: Signs = { actor: bob, device: phone };

const [newLaptop, newPhone, carolsDevice] = [ScriptDevice.create(), ScriptDevice.create(), ScriptDevice.create()];
export const NEW_LAPTOP: Signs = { actor: alice, device: newLaptop };
export const NEW_PHONE: Signs = { actor: bob, device: newPhone };

export const first: AdoptedPolicy = founded(byDevice);

/** Returns the successor of a policy that revokes its devices. */
function revocationOf(policy: Policy): Policy {
  return {
    ...policy,
    version: 2,
    devices: sortedByKeyId([
      newLaptop.asDevice(alice.userId),
      newPhone.asDevice(bob.userId),
      carolsDevice.asDevice(carol.userId),
    ]),
    previousHash: policyHashOf(policy),
  };
}

/** Version 2 of the policy, which revokes the devices of version 1. */
export const revoked: Policy = revocationOf(byDevice);

/** The same two versions where three co-signers sign together. */
const firstOfThree: Policy = { ...byDevice, signingThreshold: 3 };
export const OF_THREE = { first: firstOfThree, revoked: revocationOf(firstOfThree) };

export function approvalsOf(digest: string, ...signs: readonly Signs[]): readonly Approval[] {
  return signs.map(({ actor, device }) => ({ actor, digest, device: device.signed(digest), atMs: Date.now() }));
}

const MINUTE_MS = 60_000;

/**
 * Returns a policy change with the approvals of these devices. It expires in an hour unless
 * `expiresAtMs` is given.
 */
export function changeTo(
  policy: Policy,
  signs: readonly Signs[],
  expiresAtMs: number = Date.now() + 60 * MINUTE_MS,
): AdoptedPolicy {
  const createdAtMs = Math.min(Date.now(), expiresAtMs) - MINUTE_MS;
  const terms = { id: newPolicyChangeId(createdAtMs, randomBytes(10)), note: null, createdAtMs, expiresAtMs };
  const digest = mandateDigest(terms, policy);
  return { policy, mandate: { ...terms, policy, approvals: approvalsOf(digest, ...signs) } };
}

/** The change to version 2, which the devices that it revokes approved. */
export const revocation: AdoptedPolicy = changeTo(revoked, [LAPTOP, PHONE]);

/** Three co-signers, and a key of theirs. Both are there in the tests of a file, not before. */
export interface PolicyScene {
  readonly cosigners: Cosigners;
  readonly key: VaultKey;
}

/**
 * Starts co-signers with a key under this policy before the tests of a file, and stops them after
 * the tests. A co-signer reports each attack that it refuses, so its reports are not printed.
 */
export function policyScene(governedBy: Policy): PolicyScene {
  let cosigners: Cosigners | undefined;
  let key: VaultKey | undefined;
  beforeAll(async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    cosigners = await startCosigners();
    key = await newKey(cosigners.all, { governedBy });
  });
  afterAll(() => cosigners?.stop());
  return {
    get cosigners() {
      return present(cosigners);
    },
    get key() {
      return present(key);
    },
  };
}

interface Answer {
  readonly stage: 'chosen' | 'adopted' | 'none';
  readonly attestation: string;
}

/** Attestations of a policy, by stage and co-signer number. */
export type SentAttestations = Readonly<Record<'chosen' | 'adopted', Readonly<Record<string, string>>>>;
export const NO_ATTESTATIONS: SentAttestations = { chosen: {}, adopted: {} };

/** Returns attestations of the last of these policies, as a coordinator collects them. */
export async function attestationsOf(
  attesters: readonly CosignerClient[],
  policies: readonly AdoptedPolicy[],
): Promise<SentAttestations> {
  const { vaultId, version, hash } = nameOf(present(policies.at(-1)).policy);
  const attestations = { chosen: {} as Record<string, string>, adopted: {} as Record<string, string> };
  for (const attester of attesters) {
    const answer = await attester.call(`vault/${vaultId}/attest`, {
      version,
      hash,
      policies: policies.map(encodePolicy),
    });
    if (!answer.ok) continue;
    const { stage, attestation } = answer.value as Answer;
    if (stage !== 'none') attestations[stage][String(attester.index)] = attestation;
  }
  return attestations;
}

/** Returns the answer of each co-signer to policies: `adopted`, or the code of its refusal. */
export async function sentTo(
  cosigners: readonly CosignerClient[],
  policies: readonly AdoptedPolicy[],
  attestations: SentAttestations,
): Promise<readonly string[]> {
  const path = `vault/${policies[0]?.policy.vaultId ?? byDevice.vaultId}/policy`;
  const answers: string[] = [];
  for (const cosigner of cosigners) {
    const answer = await cosigner.call(path, { policies: policies.map(encodePolicy), ...attestations });
    answers.push(answer.ok ? 'adopted' : answer.refusal.code);
  }
  return answers;
}

/**
 * Returns the answer of each co-signer to a policy, as `sentTo` does.
 *
 * @param attesters the co-signers whose attestations the coordinator collects first
 */
export async function shownTo(
  cosigners: readonly CosignerClient[],
  adopting: AdoptedPolicy,
  attesters: readonly CosignerClient[] = cosigners,
): Promise<readonly string[]> {
  return sentTo(cosigners, [adopting], await attestationsOf(attesters, [adopting]));
}
