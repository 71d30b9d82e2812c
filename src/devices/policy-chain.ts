import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { readMandate, readPolicy } from '#devices/policy-document.ts';
import { verifiedApprovals } from '#devices/device-signature.ts';
import { hasRequiredDevice, countedApprovers } from '#domain/transaction/approvals.ts';
import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes, thresholdForChange } from '#domain/policy/policy.ts';
import type { PolicyMandate } from '#domain/policy/policy-change.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Approval } from '#domain/transaction/transaction.ts';

/** What put a policy in force: the terms of the change, and the approvals that it was given. */
export interface ApprovedMandate extends Omit<PolicyMandate, 'policy'> {
  readonly approvals: readonly Approval[];
}

/** One policy of a vault with what put it in force; null for the first. */
export interface PolicyLink {
  readonly policy: Policy;
  /** Lower-case hex SHA-256 of its canonical bytes. */
  readonly hash: string;
  readonly mandate: ApprovedMandate | null;
}

/** The same as it comes over the wire. */
export interface PolicyLinkBytes {
  readonly policy: Uint8Array;
  readonly mandate: { readonly bytes: Uint8Array; readonly approvals: readonly Approval[] } | null;
}

export type PolicyChainFault = 'malformed' | 'other-vault' | 'broken-chain' | 'other-mandate';

/**
 * The policies that these bytes encode, each the successor of the one before: version + 1, the same
 * vault, and its `previousHash` names the one before. So the hash of the last one fixes all of them.
 * The chain does not prove that any of them was in force: anyone can write policies and hash them.
 * That takes the statements of co-signers. The approvals are not verified here (`successionFault`).
 */
export function readPolicyChain(
  vaultId: number,
  documents: readonly PolicyLinkBytes[],
): Result<readonly PolicyLink[], PolicyChainFault> {
  const links: PolicyLink[] = [];
  for (const { policy: bytes, mandate: sent } of documents) {
    const policy = readPolicy(bytes);
    const document = sent === null ? null : readMandate(sent.bytes);
    if (policy === null || (sent !== null && document === null)) return refused('malformed');
    if (policy.vaultId !== vaultId) return refused('other-vault');
    const hash = bytesToHex(sha256(bytes));
    const before = links.at(-1);
    const isNext = policy.version === (before?.policy.version ?? 0) + 1 && policy.previousHash === before?.hash;
    if (before !== undefined && !isNext) return refused('broken-chain');
    if (document !== null && document.policyHash !== hash) return refused('other-mandate');
    const mandate = document === null || sent === null ? null : { ...document, approvals: sent.approvals };
    links.push({ policy, hash, mandate });
  }
  return accepted(links);
}

export type SuccessionFault = 'not-the-next' | 'no-mandate' | 'not-enough-approvals' | 'required-device-missing';

/**
 * Why `next` is no valid successor of `current`, or null: version + 1, same vault, hash chained, and
 * approved by the quorum of `current`. Under a policy in token mode the approvals are the
 * coordinator's word: a reader that does not trust the coordinator must not accept such a step.
 *
 * It does not prove that `next` is in force: a quorum can approve a change that is then rejected or
 * that expires, and its signatures remain. The expiry of the mandate is not checked, since only the
 * clock of a co-signer at the adoption can.
 */
export async function successionFault(
  current: Policy,
  next: Policy,
  mandate: ApprovedMandate | null,
): Promise<SuccessionFault | null> {
  const isNext =
    next.version === current.version + 1 && next.vaultId === current.vaultId && next.previousHash === hashOf(current);
  if (!isNext) return 'not-the-next';
  if (mandate === null) return 'no-mandate';
  const digest = bytesToHex(sha256(mandateBytes(mandate, hashOf(next))));
  const proven = await verifiedApprovals(mandate.approvals, current);
  if (countedApprovers(digest, proven, current).size < thresholdForChange(current)) return 'not-enough-approvals';
  return hasRequiredDevice(digest, proven, current) ? null : 'required-device-missing';
}

/** What a device has pinned of a vault. */
export interface PinnedCosigners {
  readonly pins: readonly CosignerPin[];
  /** The policy that this device verified last. */
  readonly policy: { readonly version: number; readonly hash: string };
}

export type PinFault = 'other-history' | 'older-policy' | 'unproven-pins';

/**
 * The pins that hold under the last policy of a chain.
 *
 * They change only by a quorum: where the policy in force names other co-signers, each step from
 * the policy that the device verified last carries the approvals of the quorum before it, signed by
 * devices. A step out of token mode proves nothing, so there the person enters the fingerprint again.
 * Where the policy names no co-signers, or the same, the pins stay, and no approval is verified here.
 * In every case the caller verifies statements under the pins that it gets: only they prove that the
 * last policy is in force.
 */
export async function pinsUnder(
  { pins, policy: known }: PinnedCosigners,
  links: readonly PolicyLink[],
): Promise<Result<readonly CosignerPin[], PinFault>> {
  const head = links.at(-1);
  if (head === undefined || head.policy.version < known.version) return refused('older-policy');
  const start = links.findIndex(({ policy }) => policy.version === known.version);
  if (links[start]?.hash !== known.hash) return refused('other-history');
  const named = head.policy.cosigners;
  if (named === undefined || areSamePins(named, pins)) return accepted(pins);
  const newer = links.slice(start + 1);
  let current = links[start]?.policy;
  for (const { policy, mandate } of newer) {
    if (current === undefined || current.approvalMode === 'token') return refused('unproven-pins');
    if ((await successionFault(current, policy, mandate)) !== null) return refused('unproven-pins');
    current = policy;
  }
  // Without a newer policy nothing has changed the pins: they never were this policy's.
  return newer.length > 0 ? accepted(named) : refused('unproven-pins');
}

function areSamePins(a: readonly CosignerPin[], b: readonly CosignerPin[]): boolean {
  return a.length === b.length && a.every(({ index, signing }, i) => b[i]?.index === index && b[i].signing === signing);
}

function hashOf(policy: Policy): string {
  return bytesToHex(sha256(policyBytes(policy)));
}
