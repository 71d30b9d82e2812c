import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { rejectionBytes } from '#domain/policy/policy-rejection.ts';

/** Returns the bytes of a change's rejection, and the digest that a device signs, both as hex. */
export function rejectionOf({ id, policy, digest }: Pick<PolicyChange, 'id' | 'policy' | 'digest'>): {
  readonly canonical: string;
  readonly digest: string;
} {
  const bytes = rejectionBytes({ vaultId: policy.vaultId, changeId: id, mandateDigest: digest });
  return { canonical: bytesToHex(bytes), digest: bytesToHex(sha256(bytes)) };
}
