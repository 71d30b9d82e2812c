import { hexToBytes } from '@noble/hashes/utils.js';
import { isCanonicalAddress, isCanonicalAsset, isKnownChain } from '#chains/inspect/canonical-spelling.ts';
import { approvalOf, fieldsOf, listOf, Malformed, textOf } from '#cosigner/request-parser.ts';
import { readPolicy } from '#devices/policy-document.ts';
import type { ApprovedMandate } from '#devices/policy-succession.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';

/**
 * Parses the documents that signers hash, from the very bytes that they hashed. A co-signer reads
 * them with the reader of the devices, so both always understand the same. Throws `Malformed`.
 */

/** Ours: 100 devices and 200 rules of each list take less than half of it. */
const MAX_DOCUMENT_HEX = 1_000_000;
const MAX_APPROVALS = 100;

/** A policy with the approvals that put it in force; the mandate is null for version 1. */
export interface PolicyWithMandate {
  readonly policy: Policy;
  readonly mandate: ApprovedMandate | null;
}

export function intentOf(value: unknown): Intent {
  return documentOf(value, readIntent);
}

/**
 * Parses `{ policy, mandate }`: hex of the policy, and null or `{ canonical, approvals }` with hex
 * of the mandate. The approvals are verified later. An address or asset in another spelling than
 * the canonical one makes the policy malformed, because its rule would apply to nothing.
 */
export function policyWithMandateOf(value: unknown): PolicyWithMandate {
  const sent = fieldsOf(value, ['policy', 'mandate']);
  const policy = documentOf(sent['policy'], readPolicy);
  if (!isInCanonicalSpelling(policy.rules)) throw new Malformed('the rules of the policy are not in canonical form');
  if (sent['mandate'] === null) return { policy, mandate: null };
  const { canonical, approvals } = fieldsOf(sent['mandate'], ['canonical', 'approvals']);
  const { policyHash, ...terms } = documentOf(canonical, readMandate);
  if (policyHash !== policyHashOf(policy)) throw new Malformed('the mandate is for another policy');
  return { policy, mandate: { ...terms, approvals: listOf(approvals, MAX_APPROVALS, approvalOf) } };
}

function documentOf<T>(value: unknown, read: (bytes: Uint8Array) => T): T {
  const text = textOf(value, MAX_DOCUMENT_HEX);
  if (!/^(?:[0-9a-f]{2})+$/.test(text)) throw new Malformed('not hex');
  try {
    return read(hexToBytes(text));
  } catch (error) {
    if (error instanceof InvalidDocument) throw new Malformed(error.message);
    throw error;
  }
}

function isInCanonicalSpelling({ addressBook, limits, higherThresholds, maxFees = [] }: Rules): boolean {
  return (
    addressBook.every(({ chain, address }) => isCanonicalAddress(chain, address)) &&
    [...limits, ...higherThresholds].every(({ chain, tokenAddress }) => isCanonicalAsset(chain, tokenAddress)) &&
    maxFees.every(({ chain }) => isKnownChain(chain))
  );
}
