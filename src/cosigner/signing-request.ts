import type { SigningRequest } from '#cosigner/approval-check.ts';
import {
  evidenceOf,
  fieldsOf,
  intentOf,
  listOf,
  MOST_EVIDENCE,
  payloadOf,
  purposeOf,
  voteOf,
  wholeNumberOf,
} from '#cosigner/wire.ts';

const FIELDS = ['intent', 'payload', 'attempt', 'purpose', 'approvals', 'policyVersion', 'evidence'] as const;
const MOST_APPROVALS = 100;

/** What a coordinator asks to have signed. Throws `Malformed`. */
export function signingRequestOf(value: unknown): SigningRequest {
  const fields = fieldsOf(value, FIELDS);
  return {
    intent: intentOf(fields['intent']),
    payload: payloadOf(fields['payload']),
    attempt: wholeNumberOf(fields['attempt']),
    purpose: purposeOf(fields['purpose']),
    approvals: listOf(fields['approvals'], MOST_APPROVALS, voteOf),
    policyVersion: wholeNumberOf(fields['policyVersion']),
    evidence: listOf(fields['evidence'], MOST_EVIDENCE, evidenceOf),
  };
}
