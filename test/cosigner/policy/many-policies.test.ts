import { expect, test } from 'vitest';
import { randomBytes } from '@noble/hashes/utils.js';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import { mandateDigest, policyHashOf } from '#devices/policy-succession.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { KeyRefresh, VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { nextRefreshStep } from '#jobs/keys/refresh-key.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import { alice, bob, policy } from '../../domain/cast.ts';
import { approvalBy, approvedTransfer, present } from '../cosigners.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';
import { inOneInvocation } from '../one-invocation.ts';
import { generatedKey } from './generated-key.ts';

/**
 * Tests a vault with 1,000 policies. Each run of a job is one invocation, in which the platform
 * refuses the call after the thirty-second, and one request carries at most 300 policies here.
 */

const COUNT = 1_000;
const CARRIED = 300;
const cosigners = cosignersInMemory();

/** Returns the policies of a vault that changed its threshold again and again. */
function history(length: number): readonly AdoptedPolicy[] {
  const adopted: AdoptedPolicy[] = [{ policy, mandate: null }];
  while (adopted.length < length) adopted.push(changeOf(present(adopted.at(-1)).policy));
  return adopted;
}

function changeOf(before: Policy): AdoptedPolicy {
  const next: Policy = {
    ...before,
    version: before.version + 1,
    threshold: before.threshold === 2 ? 1 : 2,
    previousHash: policyHashOf(before),
  };
  const createdAtMs = Date.now() - 1_000;
  const id = newPolicyChangeId(createdAtMs, randomBytes(10));
  const terms = { id, note: null, createdAtMs, expiresAtMs: createdAtMs + 3_600_000 };
  const digest = mandateDigest(terms, next);
  return {
    policy: next,
    mandate: { ...terms, policy: next, approvals: [alice, bob].map((one) => approvalBy(one, digest)) },
  };
}

const all = history(COUNT);
const latest = changeOf(present(all.at(-1)).policy);

/** Returns the policies as a coordinator sends them, up to a version, with its reports. */
function source(
  policies: readonly AdoptedPolicy[],
  adoptedVersions: Readonly<Record<string, number>> = {},
): PolicySource {
  const after = async (version: number) =>
    policies.filter((adopted) => adopted.policy.version > version).slice(0, CARRIED);
  return { policy: present(policies.at(-1)).policy, adoptedVersions, after };
}

const everywhere = (version: number) => ({ 1: version, 2: version, 3: version });

/** Repeats a job in one invocation each, until it is done. */
async function repeated<T>(run: (cosigners: readonly CosignerClient[]) => Promise<T | null>): Promise<T> {
  for (;;) {
    const done = await run(inOneInvocation(cosigners.all));
    if (done !== null) return done;
  }
}

/** Brings policies to all co-signers, as the outbox does. Returns the number of runs. */
async function delivered(policies: readonly AdoptedPolicy[], reported: Readonly<Record<string, number>> = {}) {
  let [runs, versions] = [0, reported];
  const head = present(policies.at(-1)).policy.version;
  await repeated(async (attesters) => {
    runs += 1;
    const targets = attesters.filter(({ index }) => (versions[String(index)] ?? 0) < head);
    const { versions: reached, faults } = await bringPolicies(source(policies, versions), { targets, attesters });
    expect(faults).toEqual([]);
    versions = { ...versions, ...reached };
    return Object.values(versions).every((version) => version === head) ? versions : null;
  });
  return { runs, versions };
}

test('a vault with a thousand policies generates a key, signs, refreshes and adopts the next policy', async () => {
  // The key is generated first, so that each policy is adopted by the attestations of the others.
  const key = await generatedKey(repeated, { scheme: 'ecdsa-secp256k1', policies: source(all.slice(0, 1)) });
  expect(await delivered(all, everywhere(1))).toEqual({ runs: 4, versions: everywhere(COUNT) });
  expect(await paid(key, source(all, everywhere(COUNT)))).toBe(true);
  await generatedKey(repeated, { scheme: 'frost-ed25519', policies: source(all) });

  // A payment brings the newest policy to the co-signers that sign it, and the outbox to the third.
  const more = [...all, latest];
  expect(await paid(key, source(more, everywhere(COUNT)), cosigners.some(1, 2))).toBe(true);
  expect(await delivered(more, { 1: COUNT + 1, 2: COUNT + 1, 3: COUNT })).toEqual({
    runs: 1,
    versions: everywhere(COUNT + 1),
  });

  // A new machine in the place of co-signer 3 has no policy. The coordinator has the old report.
  await cosigners.replace(3);
  let refresh: KeyRefresh = { keyId: key.keyId, scheme: key.scheme, requestId: 'one', begun: null, provenBy: [] };
  const request = { key, policies: source(more, everywhere(COUNT + 1)) };
  const faults: string[] = [];
  const after = await repeated(async (crew) => {
    const step = await nextRefreshStep(crew, request, refresh);
    if (!step.ok) {
      faults.push(step.refusal.reason);
      if (faults.length > 10) throw new Error(faults.join('; '));
      return null;
    }
    if (step.value.type === 'refreshed') return { ...key, publicShares: step.value.publicShares };
    ({ refresh } = step.value);
    return null;
  });
  expect(await paid(after, source(more, everywhere(COUNT + 1)))).toBe(true);
});

/** Reports whether a payment is signed in one invocation. */
async function paid(
  key: VaultKey,
  policies: PolicySource,
  signers: readonly CosignerClient[] = cosigners.all,
): Promise<boolean> {
  const request = approvedTransfer({ key, governedBy: policies.policy });
  const outcome = await thresholdSign(inOneInvocation(signers), { ...request, policies });
  return outcome.ok;
}
