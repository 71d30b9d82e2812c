import { nameOf } from '#devices/policy-succession.ts';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { parseKeyId } from '#domain/id.ts';
import type { KeyCandidate } from '#domain/vault/vault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { pairNextCosigners } from '#jobs/keys/pair-cosigners.ts';
import type { KeyFault } from '#jobs/keys/prove-key.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import { withReason, groupName, proofFault } from '#jobs/keys/prove-key.ts';
import { relay } from '#jobs/signing/relay.ts';
import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import { policySource } from '#jobs/signing/policy-source.ts';
import { FIRST_EPOCH } from '#mpc/keygen/confirm.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { adoptionOf } from '#objects/vault/views.ts';

export interface KeyRequest {
  readonly scheme: KeyScheme;
  /** The policies of the vault. The one in force is part of the key generation. */
  readonly policies: PolicySource;
}

type GeneratedKey = Omit<KeyCandidate, 'provenBy'>;

const point = z.string().regex(/^(0[23])?[0-9a-f]{64}$/);
const keyResult = z.object({ keyId: z.string(), publicKey: point, publicShares: z.record(z.string(), point) });

/** The result of one step. */
type KeyStep =
  | { readonly type: 'prepared' }
  | { readonly type: 'candidate'; readonly candidate: KeyCandidate }
  | { readonly type: 'key'; readonly key: GeneratedKey };

/**
 * Takes the next step to a key of all co-signers: two of them are paired; they receive policies;
 * they generate the key; or one possible group of signers proves that it can sign, over a text that
 * no chain accepts. Only a key that all groups can use is released: funds must never be on an
 * address that cannot be spent from.
 */
export async function nextKeyStep(
  cosigners: readonly CosignerClient[],
  request: KeyRequest,
  candidate: KeyCandidate | null,
): Promise<Result<KeyStep, KeyFault>> {
  if (candidate === null) {
    const paired = await pairNextCosigners(cosigners);
    if (!paired.ok) return withReason('pairing', paired.refusal);
    return paired.value ? accepted({ type: 'prepared' }) : generated(cosigners, request);
  }
  const { provenBy, ...key } = candidate;
  const threshold = request.policies.policy.signingThreshold;
  const unproven = signerGroups(cosigners, threshold).filter((group) => !provenBy.includes(groupName(group)));
  const [signers] = unproven;
  if (signers === undefined) return accepted({ type: 'key', key });
  const fault = await proofFault(signers, { ...candidate, threshold, epoch: FIRST_EPOCH });
  if (fault !== null) return refused(fault);
  if (unproven.length === 1) return accepted({ type: 'key', key });
  return accepted({ type: 'candidate', candidate: { ...candidate, provenBy: [...provenBy, groupName(signers)] } });
}

async function generated(
  cosigners: readonly CosignerClient[],
  request: KeyRequest,
): Promise<Result<KeyStep, KeyFault>> {
  const run = bytesToHex(randomBytes(16));
  const { scheme, policies } = request;
  const body = { scheme, policy: nameOf(policies.policy) };
  const made = await relay({ cosigners, path: () => `keygen/${run}`, request: () => body });
  if (!made.ok && hasOtherPolicies(made.refusal)) {
    const { faults } = await bringPolicies(policies, { targets: cosigners, attesters: cosigners });
    const [fault] = faults;
    // A co-signer that is ahead may keep its policies, so the next step follows after a wait.
    if (made.refusal.code === 'policy-ahead') return withReason('key generation', made.refusal);
    return fault === undefined ? accepted({ type: 'prepared' }) : withReason('policies', fault);
  }
  if (!made.ok) return withReason('key generation', made.refusal);
  const keys = [...made.value.values()].map((result) => keyResult.safeParse(result));
  const [first] = keys;
  const same = keys.every((key) => key.success && JSON.stringify(key.data) === JSON.stringify(first?.data));
  const keyId = parseKeyId(first?.data?.keyId ?? '');
  if (first?.success !== true || !same || keyId === null) {
    return refused({ reason: 'the nodes name different keys', isUseless: true });
  }
  const { publicKey, publicShares } = first.data;
  return accepted({ type: 'candidate', candidate: { keyId, scheme, publicKey, publicShares, provenBy: [] } });
}

/**
 * Reports whether a co-signer has other policies than the coordinator. Before the vault has a key
 * there, those of the coordinator replace them.
 */
function hasOtherPolicies({ code, detail }: CosignerFault): boolean {
  return code === 'policy-behind' || code === 'policy-ahead' || (code === 'policy-mismatch' && detail === null);
}

/**
 * Takes the next step to the key that a vault lacks: one pairing, the generation itself, or one
 * proof that a group can sign with it. A step takes at most seven calls of each co-signer, because
 * a Worker is limited in calls. Each step is stored before the next one: after an interruption it
 * continues there. Two concurrent runs leave at most an unused key.
 */
export async function generateVaultKey(env: CoordinatorEnv, vault: VaultDoors): Promise<void> {
  const work = await vault.work({ type: 'keyWork' });
  if (work === null) return;
  const { scheme, candidate, expiredVersions } = work;
  const { id } = work.vault;
  const cosigners = cosignersOf(env);
  const request = { scheme, policies: policySource(vault, adoptionOf(work.vault)) };
  const step = await nextKeyStep(cosigners, request, candidate);
  if (!step.ok) {
    const { reason, isUseless } = step.refusal;
    const renewals = expiredVersions.map((version) => `POST /vault/${id}/policy/${version}/renewal`);
    const remedy = renewals.length === 0 ? {} : { renewals };
    console.error(JSON.stringify({ event: 'key-generation-failed', vaultId: id, scheme, reason, ...remedy }));
    if (isUseless && candidate !== null)
      await vault.report({ type: 'progressKey', scheme, progress: { type: 'discarded', candidate } });
    return;
  }
  if (step.value.type === 'key') await vault.report({ type: 'recordKey', key: { ...step.value.key, addresses: {} } });
  else await vault.report({ type: 'progressKey', scheme, progress: step.value });
}
