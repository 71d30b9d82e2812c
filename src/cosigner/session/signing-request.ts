import type { SigningRequest } from '#cosigner/policy/approval-check.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import {
  evidenceOf,
  fieldsOf,
  intentOf,
  listOf,
  MAX_EVIDENCE_ITEMS,
  payloadOf,
  purposeOf,
  approvalOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Policy } from '#domain/policy/policy.ts';

const FIELDS = ['intent', 'payload', 'attempt', 'purpose', 'approvals', 'policyVersion', 'evidence'] as const;
const MAX_APPROVALS = 100;

/** What a coordinator asks to have signed. Throws `Malformed`. */
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
 * What names a signature besides the key and the bytes. Two honest co-signers that have different policies in force never sign
 * together, because their sessions have different names: a co-signer that was never shown a revocation is no help to a revoked device.
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
