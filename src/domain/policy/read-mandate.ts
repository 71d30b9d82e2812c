import { FieldReader } from '#domain/canonical/field-reader.ts';
import { parsePolicyChangeId } from '#domain/id.ts';
import type { PolicyMandate } from '#domain/policy/policy-change.ts';
import { MANDATE_DOMAIN, mandateBytes } from '#domain/policy/policy-change.ts';

/** A mandate in the form of its canonical bytes, which name the policy by its hash. */
export interface MandateDocument extends Omit<PolicyMandate, 'policy'> {
  /** Lower-case hex SHA-256 of the policy. */
  readonly policyHash: string;
}

/** Returns the mandate that canonical bytes encode. Throws `InvalidDocument` for other bytes. */
export function readMandate(bytes: Uint8Array): MandateDocument {
  const fields = new FieldReader(bytes, MANDATE_DOMAIN);
  const mandate = {
    id: fields.parsed('id', parsePolicyChangeId),
    policyHash: fields.text('policyHash'),
    note: fields.optionalPlainText('note'),
    createdAtMs: fields.count('createdAtMs'),
    expiresAtMs: fields.count('expiresAtMs'),
  };
  fields.end(mandateBytes(mandate, mandate.policyHash));
  return mandate;
}
