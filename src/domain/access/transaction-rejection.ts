import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { FieldReader } from '#domain/canonical/field-reader.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import { parseTransactionId, parseVaultIdText } from '#domain/id.ts';

/** The domain of a rejection's canonical bytes. */
export const TRANSACTION_REJECTION_DOMAIN = 'conclave/transaction-rejection/v1';

const DIGEST = /^[0-9a-f]{64}$/;

/** What a device signs to reject a transaction. */
export interface TransactionRejection {
  readonly vaultId: VaultId;
  readonly transactionId: TransactionId;
  /** Lower-case hex SHA-256 of the intent, which the approvals of the transaction name. */
  readonly intentDigest: string;
}

/**
 * Returns the bytes whose SHA-256 a device signs to reject a transaction. They have a domain of
 * their own: a device that signed the intent itself would have approved the transaction.
 */
export function transactionRejectionBytes({
  vaultId,
  transactionId,
  intentDigest,
}: TransactionRejection): Uint8Array<ArrayBuffer> {
  const fields: readonly CanonicalField[] = [
    ['vaultId', String(vaultId)],
    ['transactionId', transactionId],
    ['intentDigest', intentDigest],
  ];
  return canonicalBytes(TRANSACTION_REJECTION_DOMAIN, fields);
}

/** Returns the rejection that canonical bytes encode. Throws `InvalidDocument` for other bytes. */
export function readTransactionRejection(bytes: Uint8Array): TransactionRejection {
  const fields = new FieldReader(bytes, TRANSACTION_REJECTION_DOMAIN);
  const rejection = {
    vaultId: fields.parsed('vaultId', parseVaultIdText),
    transactionId: fields.parsed('transactionId', parseTransactionId),
    intentDigest: fields.parsed('intentDigest', (text) => (DIGEST.test(text) ? text : null)),
  };
  fields.end(transactionRejectionBytes(rejection));
  return rejection;
}
