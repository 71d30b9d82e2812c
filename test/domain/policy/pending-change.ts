import { newPolicyChangeId } from '#domain/id.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { alice, CREATED_AT_MS, DIGEST, EXPIRES_AT_MS, policy } from '../cast.ts';

/** A pending change of the threshold, without decisions. */
export const PENDING: PolicyChange = {
  id: newPolicyChangeId(CREATED_AT_MS, new Uint8Array(10)),
  policy: { ...policy, version: 2, threshold: 3 },
  note: null,
  createdAtMs: CREATED_AT_MS,
  expiresAtMs: EXPIRES_AT_MS,
  decisionEndsAtMs: EXPIRES_AT_MS,
  digest: DIGEST,
  requiredApprovals: 2,
  state: 'PENDING',
  approvals: [],
  rejections: [],
  createdBy: alice,
  updatedAtMs: CREATED_AT_MS,
};
