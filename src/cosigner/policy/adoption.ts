import { bytesToHex } from '@noble/hashes/utils.js';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { NewPolicies } from '#cosigner/policy/policy-chain.ts';
import { isExpired, newPolicies, parsePolicies } from '#cosigner/policy/policy-chain.ts';
import { pinsMatch } from '#cosigner/policy/policy-statement.ts';
import type { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import type { AttestationKeys, Attestations, AttestationStage } from '#cosigner/policy/attestation.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import type { PolicyName } from '#devices/policy-succession.ts';
import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import type { VaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { minSigners } from '#mpc/party.ts';

/**
 * How the policies of a vault change at one co-signer.
 *
 * A co-signer chooses one policy of each version, writes its choice and then attests it. It adopts
 * a policy on the attestations of as many co-signers as sign together. So a coordinator cannot put
 * two policies of one version in force at two co-signers. A choice ends with the mandate: a policy
 * that never had enough attestations does not block its version for ever.
 *
 * Two policies of one version are in force only where hostile co-signers attested both, or where
 * the coordinator withheld an adopted policy until its mandate expired. A co-signer leaves its own
 * history for a longer one when the quorum of the policy that it has in force approved the new
 * head. So a successor with the approvals of both quorums unites them.
 */
export interface AdoptionContext {
  readonly membership: Pick<CosignerSet, 'signingKeys'>;
  readonly keys: AttestationKeys;
  readonly vaultId: VaultId;
  readonly vault: VaultPolicies;
  /** The clock. It is read after each wait, because a choice may end meanwhile. */
  readonly now: () => number;
}

/** Attestations of other co-signers for the last policy of a list, by their stage. */
export type AttestationsByStage = Readonly<Record<AttestationStage, Attestations>>;

/** An attestation; `none` while the vault has no key here, because its policies need none then. */
export interface AttestationAnswer {
  readonly stage: AttestationStage | 'none';
  /** Hex; null for `none`. */
  readonly attestation: string | null;
  /** The version in force here, and its hash; 0 and null without a policy. */
  readonly version: number;
  readonly hash: string | null;
}

/** Ours: the clocks of two co-signers differ by less, so a choice outlives its attestation. */
const CLOCK_MARGIN_MS = 60 * 60 * 1000;

/**
 * Attests a policy, which is the last one of the list, or one that this co-signer has. Refuses what
 * `newPolicies` refuses, `not-founded`, `mandate-expired`, `other-cosigners` (the policy names
 * other identity keys than the configured ones), `other-choice` (with the version).
 */
export async function attest(
  context: AdoptionContext,
  policy: PolicyName,
  sent: unknown,
): Promise<Result<AttestationAnswer, Refused>> {
  const { vault, keys } = context;
  const inForce = () => ({ version: vault.version(), hash: vault.hashAt(vault.version()) });
  const isPinned = vault.isPinned();
  // A first policy needs no attestations.
  if (!isPinned && policy.version < 2) return accepted({ stage: 'none', attestation: null, ...inForce() });
  const signed = async (stage: AttestationStage, endsAtMs: number | null) => {
    const signature = await keys.sign({ policy, stage, endsAtMs });
    return accepted({ stage, attestation: bytesToHex(signature), ...inForce() });
  };
  if (isPinned && vault.hashAt(policy.version) === policy.hash) return signed('adopted', null);
  const { revision } = vault;
  const read = await newPolicies({ ...context, nowMs: context.now() }, parsePolicies(sent));
  if (!read.ok) return read;
  const proposed = read.value;
  if (proposed === null || policyHashOf(proposed.head) !== policy.hash) {
    return refused(refusal('policy-mismatch', String(vault.version())));
  }
  const fault = choiceFault(context, proposed);
  if (fault !== null) return refused(fault);
  // Another request may have changed the vault meanwhile. The code below does not await.
  if (vault.revision !== revision) return attest(context, policy, sent);
  choose(context, proposed);
  return signed('chosen', endOf(proposed));
}

/**
 * Adopts the policies of a list that this co-signer does not have, and returns the version in
 * force. Repeating it changes nothing. While the vault has no key here, its policies protect
 * nothing: they need no attestations and can be replaced.
 *
 * Refuses what `newPolicies` and `attest` refuse, and `not-enough-attestations`.
 */
export async function adopt(
  context: AdoptionContext,
  sent: unknown,
  attestations: AttestationsByStage,
): Promise<Result<{ readonly version: number }, Refused>> {
  const { vault, keys } = context;
  const { revision } = vault;
  const read = await newPolicies({ ...context, nowMs: context.now() }, parsePolicies(sent));
  if (!read.ok) return read;
  const proposed = read.value;
  const head = proposed?.head ?? vault.at(vault.version());
  // Policies that this co-signer has still need attestations before it joins a key under them.
  if (head === null || (proposed === null && vault.isPinned())) return accepted({ version: vault.version() });
  const policy = nameOf(head);
  const endsAtMs = proposed === null ? null : endOf(proposed);
  const adopters = await keys.attestersOf({ policy, stage: 'adopted', endsAtMs: null }, attestations.adopted);
  const attesters = await keys.attestersOf({ policy, stage: 'chosen', endsAtMs }, attestations.chosen);
  // Another request may have changed the vault meanwhile. The code below does not await.
  if (vault.revision !== revision) return adopt(context, sent, attestations);
  const isAttested = vault.isPinned()
    ? adopters.size >= head.signingThreshold
    : isAttestedForJoining(context, head, adopters.size);
  if (proposed !== null) {
    const others = new Set([...attesters, ...adopters]).size;
    const fault = vault.isPinned()
      ? adoptionFault(context, proposed, { isAttested, others })
      : isAttested
        ? null
        : termsFault(context, proposed);
    if (fault !== null) return refused(fault);
    vault.adopt(proposed.policies);
  }
  if (isAttested) vault.pin(policy);
  return accepted({ version: head.version });
}

/** Returns why this co-signer does not adopt policies, or null. Writes its own choice first. */
function adoptionFault(
  context: AdoptionContext,
  proposed: NewPolicies,
  { isAttested, others }: { readonly isAttested: boolean; readonly others: number },
): Refused | null {
  const { mandate, head } = proposed;
  if (isAttested) return null;
  const fault = choiceFault(context, proposed);
  if (fault === null) choose(context, proposed);
  const isInTime = mandate !== null && !isExpired(mandate, context.now());
  const count = others + (fault === null ? 1 : 0);
  if (isInTime && count >= head.signingThreshold) return null;
  return fault ?? refusal('not-enough-attestations', String(head.version));
}

/** Returns why this co-signer does not choose the head of new policies, or null. */
function choiceFault(context: AdoptionContext, proposed: NewPolicies): Refused | null {
  const { vault } = context;
  const fault = termsFault(context, proposed);
  if (fault !== null) return fault;
  const choice = vault.choice();
  if (choice === null || choice.version <= vault.version() || context.now() >= choice.untilMs) return null;
  const isIncluded = proposed.policies.some((policy) => policyHashOf(policy) === choice.hash);
  return isIncluded ? null : refusal('other-choice', String(choice.version));
}

/** Returns the first term of new policies that does not count now, or null. */
function termsFault({ membership, now }: AdoptionContext, proposed: NewPolicies): Refused | null {
  const { head, mandate, expiredBefore, isDirect, unfounded } = proposed;
  if (unfounded !== null) return refusal('not-founded', String(unfounded));
  if (expiredBefore !== null && !isDirect) return refusal('mandate-expired', String(expiredBefore));
  if (mandate !== null && isExpired(mandate, now())) return refusal('mandate-expired', String(head.version));
  return pinsMatch(head, membership) ? null : refusal('other-cosigners', String(head.version));
}

/**
 * Writes the choice. It never ends before an earlier one, whose attestation still counts: the same
 * policy can have two mandates.
 */
function choose({ vault }: AdoptionContext, proposed: NewPolicies): void {
  const earlier = vault.choice();
  const isOpen = earlier !== null && earlier.version > vault.version();
  const untilMs = Math.max((endOf(proposed) ?? 0) + CLOCK_MARGIN_MS, isOpen ? earlier.untilMs : 0);
  vault.putChoice(proposed.head, untilMs);
}

function endOf({ mandate }: NewPolicies): number | null {
  return mandate?.expiresAtMs ?? null;
}

/**
 * Reports whether enough co-signers adopted a policy for one that joins. It has no policy yet that
 * says how many sign together, and a forged one could say two. So it requires a majority, too.
 */
function isAttestedForJoining({ membership }: AdoptionContext, head: Policy, adopters: number): boolean {
  const least = Math.max(head.signingThreshold, minSigners(membership.signingKeys.size));
  return adopters >= least && pinsMatch(head, membership);
}
