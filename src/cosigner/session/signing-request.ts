import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import {
  evidenceOf,
  fieldsOf,
  listOf,
  MAX_EVIDENCE_ITEMS,
  payloadOf,
  purposeOf,
  approvalOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import { intentOf } from '#cosigner/signed-document.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Policy } from '#domain/policy/policy.ts';

const FIELDS = ['intent', 'payload', 'attempt', 'purpose', 'approvals', 'policyVersion', 'evidence'] as const;
const MAX_APPROVALS = 100;

/** Parses a signing request of a coordinator. Throws `Malformed`. */
export function signingRequestOf(value: unknown): SigningRequest {
  const fields = fieldsOf(value, FIELDS);
  return {
    intent: intentOf(fields['intent']),
    payload: payloadOf(fields['payload']),
    attempt: wholeNumberOf(fields['attempt']),
    purpose: purposeOf(fields['purpose']),
    approvals: listOf(fields['approvals'], MAX_APPROVALS, approvalOf),
    policyVersion: wholeNumberOf(fields['policyVersion']),
    evidence: listOf(fields['evidence'], MAX_EVIDENCE_ITEMS, evidenceOf),
  };
}

/**
 * Returns what identifies a signature besides the key and the bytes. Two honest co-signers with
 * different policies in force never sign together, because their sessions have different ids: a
 * co-signer that never received a revocation is no help to a revoked device.
 */
export function bindingContext(
  { intent, attempt }: Pick<SigningRequest, 'intent' | 'attempt'>,
  policy: Policy,
): Uint8Array {
  return canonicalBytes('conclave/signature/v2', [
    ['transactionId', intent.transactionId],
    ['attempt', String(attempt)],
    ['policyVersion', String(policy.version)],
    ['policyHash', policyHashOf(policy)],
  ]);
}
