import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { PolicyChangeId, VaultId } from '#domain/id.ts';

/** The domain of a rejection's canonical bytes. */
export const REJECTION_DOMAIN = 'conclave/policy-rejection/v1';

/** What a device signs to reject a policy change. */
export interface PolicyRejection {
  readonly vaultId: VaultId;
  readonly changeId: PolicyChangeId;
  /** Lower-case hex SHA-256 of the mandate, which the approvals of the change name. */
  readonly mandateDigest: string;
}

/**
 * Returns the bytes whose SHA-256 a device signs to reject a policy change. They have a domain of
 * their own: a device that signed the mandate itself would have approved the change.
 */
export function rejectionBytes({ vaultId, changeId, mandateDigest }: PolicyRejection): Uint8Array<ArrayBuffer> {
  const fields: readonly CanonicalField[] = [
    ['vaultId', String(vaultId)],
    ['changeId', changeId],
    ['mandateDigest', mandateDigest],
  ];
  return canonicalBytes(REJECTION_DOMAIN, fields);
}
