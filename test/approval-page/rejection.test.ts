import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { InvalidRequest } from '#review/invalid-request.ts';
import { verifyRequest } from '#review/verified-request.ts';
import type { ApprovalRequest } from '#domain/access/approval-page-message.ts';
import { parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { changeOf, hashOf, NOW_MS, policyOf, rejectionOf, requestOf, transferOf } from './request-scene.ts';

/** Covers the rejection of a policy change on the approval page. */

const policy = policyOf();
const proposed = policyOf({ version: 2, threshold: 1, previousHash: hashOf(policy) });
const other = policyOf({ version: 2, threshold: 2, previousHash: hashOf(policy) });
const honest = rejectionOf(policy, proposed);

/** Returns the rejection with another value in one of its fields. */
function withField(name: string, value: string): ApprovalRequest {
  const { domain, fields } = readCanonical(hexToBytes(honest.canonical));
  const replaced = fields.map(([field, old]) => [field, field === name ? value : old] as const);
  return { ...honest, canonical: bytesToHex(canonicalBytes(domain, replaced)) };
}

test('a rejection shows the whole change, and is signed over its own bytes', () => {
  const verified = verifyRequest(honest, NOW_MS);
  expect(parseApprovalRequest(honest)).toEqual(honest);
  expect(verified.subject.kind).toBe('rejection');
  expect(verified.digest).toBe(bytesToHex(sha256(hexToBytes(honest.canonical))));
  expect(verified.digest).not.toBe(verifyRequest(changeOf(policy, proposed), NOW_MS).digest);
  const { title, essentials, warnings } = verified.description;
  expect([title, warnings]).toEqual(['Reject the change to policy version 2', []]);
  const lines = essentials.map(({ label, text }) => `${label}: ${text}`);
  expect(lines).toContain('Decision: Rejection: you do not want this policy change');
  expect(lines).toContain('Changed: Approval threshold: from 2 to 1');
});

test('a rejection without the change shows its id and digest, and a warning', () => {
  const { subject, description } = verifyRequest({ ...honest, proposed: null, mandate: null }, NOW_MS);
  expect(subject).toMatchObject({ kind: 'rejection', change: null });
  expect(description.title).toBe('Reject a policy change');
  expect(description.essentials.map(({ label }) => label)).toEqual([
    'Decision',
    'Vault',
    'Policy change',
    'Digest of the policy change',
  ]);
  expect(description.warnings).toHaveLength(1);
});

test('a change that has expired can still be rejected', () => {
  expect(verifyRequest(honest, NOW_MS + 10 ** 9).subject.kind).toBe('rejection');
});

test.each<[string, ApprovalRequest]>([
  ['the mandate of another change', { ...honest, mandate: changeOf(policy, other).canonical }],
  ['another proposed policy', { ...honest, proposed: bytesToHex(policyBytes(other)) }],
  ['no mandate', { ...honest, mandate: null }],
  ['no proposed policy', { ...honest, proposed: null }],
  ['another change in its bytes', withField('changeId', 'pch_01J00000000000000000000004')],
  ['another digest in its bytes', withField('mandateDigest', '11'.repeat(32))],
  ['another vault in its bytes', withField('vaultId', '8')],
  ['a policy that the change does not follow', { ...honest, policy: bytesToHex(policyBytes(other)) }],
  ['a malformed digest', withField('mandateDigest', 'none')],
])('a rejection with %s is refused', (_name, request) => {
  const isShown = (error: unknown) => error instanceof InvalidRequest || error instanceof InvalidDocument;
  expect(() => verifyRequest(request, NOW_MS)).toThrow(expect.toSatisfy(isShown));
});

test('an approval with the mandate of a rejection is refused', () => {
  const { mandate } = honest;
  for (const request of [changeOf(policy, proposed, { mandate }), requestOf(policy, transferOf(policy), { mandate })]) {
    expect(() => verifyRequest(request, NOW_MS)).toThrow('must not include what a rejection rejects');
  }
});
