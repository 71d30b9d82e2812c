import { FieldReader } from '#domain/canonical/field-reader.ts';
import { parsePolicyChangeId, parseVaultIdText } from '#domain/id.ts';
import type { PolicyRejection } from '#domain/policy/policy-rejection.ts';
import { REJECTION_DOMAIN, rejectionBytes } from '#domain/policy/policy-rejection.ts';

const DIGEST = /^[0-9a-f]{64}$/;

/** Returns the rejection that canonical bytes encode. Throws `InvalidDocument` for other bytes. */
export function readRejection(bytes: Uint8Array): PolicyRejection {
  const fields = new FieldReader(bytes, REJECTION_DOMAIN);
  const rejection = {
    vaultId: fields.parsed('vaultId', parseVaultIdText),
    changeId: fields.parsed('changeId', parsePolicyChangeId),
    mandateDigest: fields.parsed('mandateDigest', (text) => (DIGEST.test(text) ? text : null)),
  };
  fields.end(rejectionBytes(rejection));
  return rejection;
}
