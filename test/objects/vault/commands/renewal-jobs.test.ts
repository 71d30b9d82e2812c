import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import { generateVaultKey } from '#jobs/keys/generate-key.ts';
import { adoptPolicy } from '#jobs/keys/adopt-policy.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { AdoptionReport } from '#objects/vault/commands/policy.ts';
import { CREATED_AT_MS, EXPIRES_AT_MS, policy } from '../../../domain/cast.ts';
import { vaultStandIn } from '../vault-stand-in.ts';

/**
 * Covers what the jobs that propagate policies to simulated co-signers report about an expired
 * mandate.
 */

let log: Record<string, unknown>[];
beforeEach(() => {
  log = [];
  vi.useFakeTimers({ toFake: ['Date'], now: EXPIRES_AT_MS });
  vi.spyOn(console, 'error').mockImplementation((line: string) => void log.push(JSON.parse(line)));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const id = newPolicyChangeId(CREATED_AT_MS, new Uint8Array(10));
const second = { ...policy, version: 2 };
const terms = { id, note: null, createdAtMs: CREATED_AT_MS, expiresAtMs: EXPIRES_AT_MS };
const policies: readonly AdoptedPolicy[] = [
  { policy, mandate: null },
  { policy: second, mandate: { ...terms, policy: second, approvals: [] } },
];

type Refuses = { readonly code: string; readonly detail: string | null } | null;

/**
 * Returns settings with simulated co-signers. Co-signers 1 and 2 adopt every policy, and the test
 * sets the answer of co-signer 3.
 */
function settings(third: Refuses): CoordinatorEnv {
  const binding = (refuses: Refuses) => ({
    fetch: async (request: RequestInfo | URL) => {
      const path = String(request instanceof Request ? request.url : request);
      const refusal = refuses === null ? null : { ...refuses, culprit: null };
      const attested = { stage: 'chosen', attestation: 'ab'.repeat(64), version: 1, hash: policyHashOf(policy) };
      const value = path.endsWith('/attest') ? attested : { version: 2 };
      const isPolicy = path.endsWith('/attest') || path.endsWith('/policy');
      const answer = isPolicy && refusal !== null ? { ok: false, refusal } : { ok: true, value };
      return new Response(JSON.stringify(answer));
    },
  });
  const env = { COSIGNER_1: binding(null), COSIGNER_2: binding(null), COSIGNER_3: binding(third) };
  return env as unknown as CoordinatorEnv;
}

/** Returns the report to the vault after the job has brought the policies to the co-signers. */
async function spread(third: Refuses): Promise<AdoptionReport | undefined> {
  const reports: AdoptionReport[] = [];
  const vault = vaultStandIn({
    adoptionWork: () => ({ policy: second, adoptedVersions: {} }),
    policiesAfter: ({ version }: { readonly version: number }) =>
      policies.filter((adopted) => adopted.policy.version > version),
    reportAdoption: ({ version, isComplete, expired, adoptedVersions }: AdoptionReport) =>
      void reports.push({ version, isComplete, expired, adoptedVersions }),
  });
  await adoptPolicy(settings(third), vault);
  return reports[0];
}

test('a co-signer that refuses an expired mandate is recorded once, and the log names the renewal route', async () => {
  const report = await spread({ code: 'mandate-expired', detail: '2' });
  expect(report).toEqual({
    version: 2,
    isComplete: false,
    expired: [{ cosigner: 3, version: 2 }],
    adoptedVersions: { 1: 2, 2: 2 },
  });
  expect(log).toMatchObject([{ renewal: 'POST /vault/7/policy/2/renewal' }]);
});

test('a co-signer that is unreachable or adopts the policy does not wait for a renewal', async () => {
  expect(await spread({ code: 'unknown-key', detail: null })).toMatchObject({
    version: 2,
    isComplete: false,
    expired: [],
  });
  expect(log.some((line) => 'renewal' in line)).toBe(false);
  expect(await spread(null)).toMatchObject({ version: 2, isComplete: true, adoptedVersions: { 1: 2, 2: 2, 3: 2 } });
});

test('a co-signer cannot name a version that the vault does not have', async () => {
  for (const detail of ['3', '0', '-1', '2.0', '2; drop', '', null]) {
    expect(await spread({ code: 'mandate-expired', detail })).toMatchObject({ isComplete: false, expired: [] });
  }
});

test('if a key cannot be made, the log names each mandate that has to be renewed', async () => {
  const work = (expiredVersions: readonly number[]) => ({
    vault: { id: 7, keys: [], policy: second },
    scheme: 'ecdsa-secp256k1',
    expiredVersions,
    candidate: null,
  });
  const run = async (expiredVersions: readonly number[]) => {
    const vault = vaultStandIn({ keyWork: () => work(expiredVersions) });
    await generateVaultKey(settings(null), vault);
    return log.at(-1) ?? {};
  };
  expect(await run([2])).toMatchObject({
    event: 'key-generation-failed',
    renewals: ['POST /vault/7/policy/2/renewal'],
  });
  expect('renewals' in (await run([]))).toBe(false);
});
