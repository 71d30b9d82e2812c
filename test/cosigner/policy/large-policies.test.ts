import { afterEach, expect, test, vi } from 'vitest';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { objectName } from '#cosigner/api/object-ref.ts';
import { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { KeyRefresh, VaultKey } from '#domain/vault/vault.ts';
import { nextRefreshStep } from '#jobs/keys/refresh-key.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import { policy } from '../../domain/cast.ts';
import { approvalsOf, changeOf, foundedLarge, historyOf, largePolicy, POLICIES } from '../../domain/large-vault.ts';
import { LIMITS } from '../../limits/limits.ts';
import { memorySql } from '../../objects/memory-sql.ts';
import { approvedTransfer, inVault, present } from '../cosigners.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';
import { inOneInvocation } from '../one-invocation.ts';
import { generatedKey } from './generated-key.ts';

/**
 * Tests the policies of a large vault at the co-signers. The storage of the vault decides how many
 * policies one request carries, and each run of a job is one invocation, in which the platform
 * refuses the call after the thirty-second.
 */

/** A co-signer refuses longer bodies (cosigner/app.ts). */
const MAX_BODY_BYTES = 4_000_000;

const cosigners = cosignersInMemory();
const seen = { invocations: 0, calls: 0, bodyBytes: 0 };
let calls = 0;
cosigners.watch(({ body }) => {
  calls += 1;
  seen.calls = Math.max(seen.calls, calls);
  seen.bodyBytes = Math.max(seen.bodyBytes, Buffer.byteLength(JSON.stringify(body)));
});

afterEach(() => vi.useRealTimers());

/** Returns the measurements since the last call: invocations, calls of one, bytes of one body. */
function measured() {
  const result = { ...seen };
  Object.assign(seen, { invocations: 0, calls: 0, bodyBytes: 0 });
  return result;
}

/** The policies of a vault, in the storage of its object. */
class Policies {
  readonly #storage = new VaultStorage(memorySql(), false);
  #newest: Policy | null = null;

  constructor(adopted: readonly AdoptedPolicy[]) {
    this.#storage.createTables();
    this.add(...adopted);
  }

  add(...adopted: readonly AdoptedPolicy[]): void {
    for (const one of adopted) this.#storage.policies.adopt(one, policyHashOf(one.policy));
    this.#newest = present(adopted.at(-1)).policy;
  }

  get newest(): Policy {
    return present(this.#newest);
  }

  source(adoptedVersions: Readonly<Record<string, number>> = {}): PolicySource {
    const after = async (version: number) => this.#storage.policies.adoptedAfter(version);
    return { policy: this.newest, adoptedVersions, after };
  }
}

const everywhere = (version: number) => ({ 1: version, 2: version, 3: version });

/** Repeats a job in one invocation each, until it is done. */
async function repeated<T>(run: (cosigners: readonly CosignerClient[]) => Promise<T | null>): Promise<T> {
  for (let runs = 0; runs < 2 * POLICIES; runs++) {
    seen.invocations += 1;
    calls = 0;
    const done = await run(inOneInvocation(cosigners.all));
    if (done !== null) return done;
  }
  throw new Error('the job never ends');
}

/** Brings policies to all co-signers, as the outbox does. */
async function deliver(policies: Policies, reported: Readonly<Record<string, number>> = {}): Promise<void> {
  let versions = reported;
  const head = policies.newest.version;
  await repeated(async (attesters) => {
    const targets = attesters.filter(({ index }) => (versions[String(index)] ?? 0) < head);
    const delivery = await bringPolicies(policies.source(versions), { targets, attesters });
    expect(delivery.faults).toEqual([]);
    versions = { ...versions, ...delivery.versions };
    return attesters.every(({ index }) => versions[String(index)] === head) ? versions : null;
  });
}

/** Refreshes a key. Returns it with its new shares. */
async function refreshed(key: VaultKey, policies: PolicySource): Promise<VaultKey> {
  let refresh: KeyRefresh = { keyId: key.keyId, scheme: key.scheme, requestId: 'one', begun: null, provenBy: [] };
  const faults: string[] = [];
  return repeated(async (crew) => {
    const step = await nextRefreshStep(crew, { key, policies }, refresh);
    if (!step.ok) {
      faults.push(step.refusal.reason);
      if (faults.length > 60) throw new Error(faults.join('; '));
      return null;
    }
    if (step.value.type === 'refreshed') return { ...key, publicShares: step.value.publicShares };
    ({ refresh } = step.value);
    return null;
  });
}

/** Returns a payment with the approvals of all signers. */
function paymentOf(key: VaultKey, policies: PolicySource) {
  const request = approvedTransfer({ key, governedBy: policies.policy });
  const approvals = approvalsOf(request.transaction.digest, 50);
  return { ...request, approvals, policies };
}

/** Reports whether a payment is signed in one invocation. */
async function pay(key: VaultKey, policies: PolicySource): Promise<boolean> {
  const request = paymentOf(key, policies);
  return repeated(async (crew) => (await thresholdSign(crew, request)).ok);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns a key of a vault with this number of policies, which every co-signer has. */
async function largeVault(id: number, length: number): Promise<{ readonly key: VaultKey; readonly vault: Policies }> {
  const first = inVault(id, largePolicy);
  const vault = new Policies([foundedLarge(first)]);
  const key = await generatedKey(repeated, { scheme: 'ecdsa-secp256k1', policies: vault.source() });
  const others = historyOf(first, length).slice(1);
  vault.add(...others);
  const name = objectName({ kind: 'vault', vaultId: first.vaultId });
  // Each policy was adopted at its time. To deliver all of them once more would take a minute.
  for (const sql of cosigners.storagesOf(name)) new VaultPolicies(sql).adopt(others.map(({ policy: one }) => one));
  await cosigners.restart();
  measured();
  return { key, vault };
}

/** Asserts that this number of invocations since the last call stayed within the limits. */
function expectWithinLimits(expected: number): void {
  const { invocations, calls: most, bodyBytes } = measured();
  expect(invocations).toBe(expected);
  expect(most).toBeLessThanOrEqual(LIMITS['service calls']);
  expect(bodyBytes).toBeLessThan(MAX_BODY_BYTES);
}

test('a payment of a large vault is signed in one invocation, however many co-signers lack a policy', async () => {
  const { key, vault } = await largeVault(7, POLICIES);
  expect(await pay(key, vault.source(everywhere(POLICIES)))).toBe(true);
  expectWithinLimits(1);
  vault.add(changeOf(vault.newest));
  expect(await pay(key, vault.source(everywhere(POLICIES)))).toBe(true);
  expectWithinLimits(1);
  // The payment brought the policy to the co-signers that signed it. The others sign the next one.
  await cosigners.restart();
  const [, ...rest] = cosigners.all;
  const request = paymentOf(key, vault.source({ ...everywhere(POLICIES + 1), 3: POLICIES }));
  expect(await repeated(async () => (await thresholdSign(inOneInvocation(rest), request)).ok)).toBe(true);
  expectWithinLimits(1);
  await generatedKey(repeated, { scheme: 'frost-ed25519', policies: vault.source(everywhere(POLICIES + 1)) });
  expectWithinLimits(4);
});

test('a co-signer that lost its storage gets the shares of a large vault with expired mandates', async () => {
  const { key, vault } = await largeVault(9, 300);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 40 * DAY_MS });
  await cosigners.replace(3);
  const after = await refreshed(key, vault.source(everywhere(300)));
  // One run for each 26 policies, and ten for the refresh itself. With 1,000 policies it takes 49.
  expectWithinLimits(22);
  expect(await pay(after, vault.source(everywhere(300)))).toBe(true);
});

test.each([
  { title: 'short policies', id: 10, count: 1_200, note: null, invocations: 3 },
  { title: 'long notes', id: 11, count: 1_000, note: '語'.repeat(500), invocations: 2 },
])('$title: a new co-signer accepts what one request carries', async ({ id, count, note, invocations }) => {
  const [alice] = policy.signers;
  const first = { ...inVault(id, policy), signers: [present(alice)], threshold: 1 };
  await deliver(new Policies(historyOf(first, count, { note })));
  expectWithinLimits(invocations);
});
