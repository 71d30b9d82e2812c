import { expect, test } from 'vitest';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import { readRejection } from '#domain/policy/read-rejection.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { rejectionBytes } from '#domain/policy/policy-rejection.ts';
import { CREATED_AT_MS, DIGEST, EXPIRES_AT_MS, policy } from '../cast.ts';

const changeId = newPolicyChangeId(CREATED_AT_MS, new Uint8Array(10));
const rejection = { vaultId: policy.vaultId, changeId, mandateDigest: DIGEST };
const bytes = rejectionBytes(rejection);

test('a rejection covers the vault, the change and its mandate, in this order', () => {
  const fields = [
    ['vaultId', String(policy.vaultId)],
    ['changeId', changeId],
    ['mandateDigest', DIGEST],
  ];
  expect(readCanonical(bytes)).toEqual({ domain: 'conclave/policy-rejection/v1', fields });
  expect(readRejection(bytes)).toEqual(rejection);
});

test('no bytes are both an approval and a rejection', () => {
  const terms = { id: changeId, note: null, createdAtMs: CREATED_AT_MS, expiresAtMs: EXPIRES_AT_MS };
  expect(() => readMandate(bytes)).toThrow(InvalidDocument);
  expect(() => readRejection(mandateBytes(terms, DIGEST))).toThrow(InvalidDocument);
});

test('a rejection with another field, another order or a malformed value is refused', () => {
  const { domain, fields } = readCanonical(bytes);
  const replaced = (name: string, value: string) =>
    fields.map(([field, old]) => [field, field === name ? value : old] as const);
  for (const other of [
    [...fields, ['note', 'all'] as const],
    fields.slice(0, -1),
    fields.toReversed(),
    replaced('mandateDigest', DIGEST.toUpperCase()),
    replaced('mandateDigest', DIGEST.slice(2)),
    replaced('changeId', 'pch_1'),
    replaced('vaultId', `0${policy.vaultId}`),
  ]) {
    expect(() => readRejection(canonicalBytes(domain, other))).toThrow(InvalidDocument);
  }
});
