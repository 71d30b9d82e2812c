import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { parseKeyId } from '#domain/id.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { KeyCandidate } from '#domain/vault.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { pairNextCosigners } from '#jobs/keys/pair-cosigners.ts';
import type { KeyFault } from '#jobs/keys/prove-key.ts';
import { withReason, groupName, signerGroups, proofFault } from '#jobs/keys/prove-key.ts';
import { relay } from '#jobs/signing/relay.ts';
import type { Attestations } from '#cosigner-client/sync-policies.ts';
import { attestationsOf, encodePolicy } from '#cosigner-client/sync-policies.ts';
import { FIRST_EPOCH } from '#mpc/keygen/confirm.ts';
import { neededRenewals } from '#domain/policy/mandate-renewal.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';

export interface KeyRequest {
  readonly scheme: KeyScheme;
  /** How many nodes sign together. */
  readonly threshold: number;
  /** Every policy of the vault so far, in order, each with its mandate: pinned together with the key. */
  readonly policies: readonly AdoptedPolicy[];
  /** Of the newest policy, where another key of the vault has it in force; absent for a first key. */
  readonly attestations?: Attestations;
}

type GeneratedKey = Omit<KeyCandidate, 'provenBy'>;

const point = z.string().regex(/^(0[23])?[0-9a-f]{64}$/);
const keyResult = z.object({ keyId: z.string(), publicKey: point, publicShares: z.record(z.string(), point) });

/** What one step has come to. */
type KeyStep =
  | { readonly type: 'paired' }
  | { readonly type: 'candidate'; readonly candidate: KeyCandidate }
  | { readonly type: 'key'; readonly key: GeneratedKey };

/**
 * The next step to a key of all co-signers: two of them are paired; they generate it; or one group that could sign proves that it can, over a
 * text that no chain would take. Only a key that all of them can use is given out: money must never wait on an address that nobody can
 * spend from.
 */
export async function nextKeyStep(
  cosigners: readonly CosignerClient[],
  request: KeyRequest,
  candidate: KeyCandidate | null,
): Promise<Result<KeyStep, KeyFault>> {
  if (candidate === null) {
    const paired = await pairNextCosigners(cosigners);
    if (!paired.ok) return withReason('pairing', paired.refusal);
    return paired.value ? accepted({ type: 'paired' }) : generated(cosigners, request);
  }
  const { provenBy, ...key } = candidate;
  const unproven = signerGroups(cosigners, request.threshold).filter((group) => !provenBy.includes(groupName(group)));
  const [signers] = unproven;
  if (signers === undefined) return accepted({ type: 'key', key });
  const fault = await proofFault(signers, { ...candidate, threshold: request.threshold, epoch: FIRST_EPOCH });
  if (fault !== null) return refused(fault);
  if (unproven.length === 1) return accepted({ type: 'key', key });
  return accepted({ type: 'candidate', candidate: { ...candidate, provenBy: [...provenBy, groupName(signers)] } });
}

async function generated(
  cosigners: readonly CosignerClient[],
  request: KeyRequest,
): Promise<Result<KeyStep, KeyFault>> {
  const run = bytesToHex(randomBytes(16));
  const { scheme, threshold, policies, attestations = {} } = request;
  const body = { scheme, threshold, policies: policies.map(encodePolicy), attestations };
  const made = await relay({ cosigners, path: () => `keygen/${run}`, request: () => body });
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
 * Takes the next step to the key that a vault lacks: one pairing, the generation itself, or one proof that a group can sign with it. A step
 * is some twenty calls of co-signers at most, because a Worker may make only so many in one go, and each is written down before the next
 * one: cut off anywhere, it goes on from there. Run twice at once it leaves at most a key that nobody uses.
 */
export async function generateVaultKey(env: CoordinatorEnv, vault: DurableObjectStub<VaultObject>): Promise<void> {
  const work = await vault.keyWork();
  if (work === null) return;
  const { scheme, policies, candidate } = work;
  const { id, configuration } = work.vault;
  const cosigners = cosignersOf(env);
  const [existing] = work.vault.keys;
  const version = policies.at(-1)?.policy.version ?? 0;
  // Mandates of changes expire. Another key of the vault has them in force, and its co-signers attest that.
  const attestations =
    existing === undefined || version < 2 || candidate !== null
      ? {}
      : await attestationsOf(cosigners, existing.keyId, version);
  const request = { scheme, threshold: configuration.signingThreshold, policies, attestations };
  const step = await nextKeyStep(cosigners, request, candidate);
  if (!step.ok) {
    const { reason, isUseless } = step.refusal;
    // Without a key no co-signer has adopted anything, so none attests: these mandates have to be renewed.
    const expired = existing === undefined && candidate === null ? neededRenewals(policies, null, Date.now()) : [];
    const renewals = expired.map(({ version: renewed }) => `POST /vault/${id}/policy/${renewed}/renewal`);
    const remedy = renewals.length === 0 ? {} : { renewals };
    console.error(JSON.stringify({ event: 'key-generation-failed', vaultId: id, scheme, reason, ...remedy }));
    if (isUseless && candidate !== null) await vault.progressKey(scheme, { type: 'discarded', candidate });
    return;
  }
  if (step.value.type === 'key') await vault.recordKey({ ...step.value.key, addresses: {} });
  else await vault.progressKey(scheme, step.value);
}
