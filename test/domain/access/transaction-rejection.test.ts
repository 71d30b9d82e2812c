import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { readRejection } from '#domain/policy/read-rejection.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import { readTransactionRejection, transactionRejectionBytes } from '#domain/access/transaction-rejection.ts';
import { InvalidRequest } from '#review/invalid-request.ts';
import type { VerifiedRequest } from '#review/verified-request.ts';
import { verifyRequest } from '#review/verified-request.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { alice, DIGEST, NOON_MS, policy, transferIntent } from '../cast.ts';

const intent = transferIntent();
const { vaultId, transactionId } = intent;
const canonicalIntent = intentBytes(intent);
const rejection = { vaultId, transactionId, intentDigest: bytesToHex(sha256(canonicalIntent)) };
const bytes = transactionRejectionBytes(rejection);

test('a rejection covers the vault, the transaction and its intent, in this order', () => {
  const fields = [
    ['vaultId', String(vaultId)],
    ['transactionId', transactionId],
    ['intentDigest', rejection.intentDigest],
  ];
  expect(readCanonical(bytes)).toEqual({ domain: 'conclave/transaction-rejection/v1', fields });
  expect(readTransactionRejection(bytes)).toEqual(rejection);
});

test('no bytes are both an approval and a rejection, or reject a policy change', () => {
  expect(() => readIntent(bytes)).toThrow(InvalidDocument);
  expect(() => readRejection(bytes)).toThrow(InvalidDocument);
  expect(() => readTransactionRejection(canonicalIntent)).toThrow(InvalidDocument);
});

test('a rejection with another field, another order or a malformed value is refused', () => {
  const { domain, fields } = readCanonical(bytes);
  const replaced = (name: string, value: string) =>
    fields.map(([field, old]) => [field, field === name ? value : old] as const);
  for (const other of [
    [...fields, ['note', 'all'] as const],
    fields.slice(0, -1),
    fields.toReversed(),
    replaced('intentDigest', DIGEST.toUpperCase()),
    replaced('intentDigest', DIGEST.slice(2)),
    replaced('transactionId', 'tx'),
    replaced('vaultId', `0${vaultId}`),
  ]) {
    expect(() => readTransactionRejection(canonicalBytes(domain, other))).toThrow(InvalidDocument);
  }
});

/** Returns the request of a dashboard, which may lie. */
const requestOf = (parts: { readonly canonical?: Uint8Array; readonly mandate?: Uint8Array | null }) => ({
  type: 'conclave/approval/request' as const,
  version: 1 as const,
  requestId: 'r',
  userId: alice.userId,
  canonical: bytesToHex(parts.canonical ?? bytes),
  policy: bytesToHex(policyBytes(policy)),
  proposed: null,
  mandate: parts.mandate === null ? null : bytesToHex(parts.mandate ?? canonicalIntent),
  keys: [],
  statements: [],
  cosigners: [],
  remarks: [],
});
const verified = (parts: Parameters<typeof requestOf>[0]): VerifiedRequest => verifyRequest(requestOf(parts), NOON_MS);

test('the approval page shows the rejected transaction from its bytes, and its id alone without them', () => {
  const shown = verified({});
  expect(shown.digest).toBe(bytesToHex(sha256(bytes)));
  expect(shown.subject).toEqual({ kind: 'transaction-rejection', rejection, intent });
  expect(shown.description.title).toMatch(/^Reject: /);
  expect(shown.description.essentials.map(({ text }) => text)).toContain(transactionId);
  const bare = verified({ mandate: null }).description;
  expect([bare.title, bare.warnings.length]).toEqual(['Reject a transaction', 1]);
});

test('the approval page refuses bytes of another transaction, and an approval with a rejected one', () => {
  const other = transactionRejectionBytes({ ...rejection, intentDigest: DIGEST });
  expect(() => verified({ canonical: other })).toThrow(InvalidRequest);
  expect(() => verified({ canonical: canonicalIntent, mandate: canonicalIntent })).toThrow(InvalidRequest);
});
