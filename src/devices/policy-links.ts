import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { readPolicy } from '#devices/policy-document.ts';
import type { ApprovedMandate } from '#devices/policy-succession.ts';
import { successionFault } from '#devices/policy-succession.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Approval } from '#domain/access/approval.ts';

/** One policy of a vault with the mandate that put it in force; null for the first. */
export interface PolicyLink {
  readonly policy: Policy;
  /** Lower-case hex SHA-256 of its canonical bytes. */
  readonly hash: string;
  readonly mandate: ApprovedMandate | null;
}

/** The same in its transmitted form. */
export interface PolicyLinkBytes {
  readonly policy: Uint8Array;
  readonly mandate: { readonly bytes: Uint8Array; readonly approvals: readonly Approval[] } | null;
}

export type PolicyChainFault = 'malformed' | 'other-vault' | 'broken-chain' | 'other-mandate';

/**
 * Returns the policies that these bytes encode, each the successor of the one before: version + 1,
 * the same vault, and its `previousHash` names the one before. Therefore the hash of the last one
 * fixes all of them. The chain does not prove that any of them was in force, because anyone can
 * write and hash policies. Only statements of co-signers prove it. The approvals are not verified
 * here (`successionFault`).
 */
export function readPolicyChain(
  vaultId: number,
  documents: readonly PolicyLinkBytes[],
): Result<readonly PolicyLink[], PolicyChainFault> {
  const links: PolicyLink[] = [];
  for (const { policy: bytes, mandate: sent } of documents) {
    const policy = readOrNull(() => readPolicy(bytes));
    const document = sent === null ? null : readOrNull(() => readMandate(sent.bytes));
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

function readOrNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof InvalidDocument) return null;
    throw error;
  }
}

/** The pinned co-signers of a vault on a device. */
export interface PinnedCosigners {
  readonly pins: readonly CosignerPin[];
  /** The policy that this device verified last. */
  readonly policy: { readonly version: number; readonly hash: string };
}

export type PinFault = 'other-history' | 'older-policy' | 'unproven-pins';

/**
 * Returns the pins that hold under the last policy of a chain.
 *
 * They change only by a quorum: when the policy in force names other co-signers, each step from the
 * policy that the device verified last carries the approvals of the quorum before it, signed by
 * devices. A step out of token mode proves nothing, so the signer enters the fingerprint again.
 * When the policy names no co-signers, or the same, the pins stay, and no approval is verified
 * here. In every case the caller verifies statements under the returned pins: only they prove that
 * the last policy is in force.
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
  // Without a newer policy nothing has changed the pins: they were never this policy's.
  return newer.length > 0 ? accepted(named) : refused('unproven-pins');
}

function areSamePins(a: readonly CosignerPin[], b: readonly CosignerPin[]): boolean {
  return a.length === b.length && a.every(({ index, signing }, i) => b[i]?.index === index && b[i].signing === signing);
}
