import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { InvalidRequest } from '#review/invalid-request.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { claimedPins, confirm, pinsAfter } from '#approval-page/cosigners/confirm.ts';
import { verifyRequest } from '#review/verified-request.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { ApprovalRequest } from '#domain/access/approval-page-message.ts';
import { parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import {
  changeOf,
  hashOf,
  KEY,
  keyNamed,
  NONCE,
  NOW_MS,
  PINS,
  pinsOf,
  policyOf,
  requestOf,
  statementOf,
  statementsOf,
  transferOf,
} from './request-scene.ts';

const policy = policyOf();
const intent = transferOf(policy);
const pins = { cosigners: PINS, threshold: 2 };
const judged = (request: ApprovalRequest, confirmed = pins) =>
  confirm(verifyRequest(request, NOW_MS), request, { pins: confirmed, nonce: NONCE, nowMs: NOW_MS });

/** Returns the same intent with some fields replaced, added or removed. */
function withFields(change: (fields: readonly CanonicalField[]) => readonly CanonicalField[]): ApprovalRequest {
  const { domain, fields } = readCanonical(intentBytes(intent));
  return requestOf(policy, intent, { canonical: bytesToHex(canonicalBytes(domain, change(fields))) });
}

/** Returns the same transfer with extra fields that only some transfers have. */
function withExtras(extras: readonly CanonicalField[]): ApprovalRequest {
  return withFields((fields) => fields.flatMap((field) => (field[0] === 'lookalikeOf' ? [field, ...extras] : [field])));
}

test('an intent that names a confirmed policy can be approved by the digest of its bytes', () => {
  const request = requestOf(policy, intent);
  const verified = verifyRequest(request, NOW_MS);
  expect(verified.subject).toEqual({ kind: 'intent', intent });
  expect(verified.inForce).toEqual(policy);
  expect(judged(request)).toMatchObject({ fault: null });
});

test('the expiry time of an intent is read from its bytes', () => {
  const ending = { ...intent, notAfterMs: intent.expiresAtMs };
  expect(verifyRequest(requestOf(policy, ending), NOW_MS).subject).toEqual({ kind: 'intent', intent: ending });
});

test('a memo and an acknowledgement are read from the bytes, in the one order that is allowed', () => {
  const extras = { memo: '104729', recipientMayHaveNoKey: true } as const;
  for (const of of [
    { ...intent, ...extras },
    { ...intent, memo: '104729' },
    { ...intent, paysFor: 'ab'.repeat(32), ...extras },
    { ...intent, recipientIsToken: true as const },
    { ...intent, ...extras, recipientIsToken: true as const },
    { ...intent, ...extras, recipientIsToken: true as const, maxTokenFee: amountOf(15n) },
  ]) {
    expect(verifyRequest(requestOf(policy, of), NOW_MS).subject).toEqual({ kind: 'intent', intent: of });
  }
});

test.each<[string, ApprovalRequest]>([
  ['an end that is no time', withFields((fields) => [...fields, ['notAfterMs', 'soon']])],
  ['an acknowledgement that is not true', withExtras([['recipientMayHaveNoKey', 'false']])],
  ['a fee of the token that is no amount', withExtras([['maxTokenFee', '-1']])],
  ['an acknowledged token that is not true', withExtras([['recipientIsToken', 'false']])],
  [
    'acknowledgements in another order',
    withExtras([
      ['recipientIsToken', 'true'],
      ['recipientMayHaveNoKey', 'true'],
    ]),
  ],
  [
    'a memo behind the acknowledgement',
    withExtras([
      ['recipientMayHaveNoKey', 'true'],
      ['memo', 'x'],
    ]),
  ],
  [
    'two memos',
    withExtras([
      ['memo', 'x'],
      ['memo', 'y'],
    ]),
  ],
  ['a field that is not known', withFields((fields) => [...fields, ['gift', 'all']])],
  ['a field twice', withFields((fields) => [...fields.slice(0, 1), ...fields])],
  ['a field that is missing', withFields((fields) => fields.filter(([name]) => name !== 'note'))],
  ['fields in another order', withFields((fields) => [...fields.slice(1), ...fields.slice(0, 1)])],
  ['an unknown kind', withFields(([, ...rest]) => [['kind', 'sweep'], ...rest])],
  ['a leading zero', withFields((fields) => fields.map(([n, v]) => (n === 'policyVersion' ? [n, `0${v}`] : [n, v])))],
  ['an address with a hidden letter', withFields((f) => f.map(([n, v]) => (n === 'to' ? [n, `${v}\u200b`] : [n, v])))],
  ['another domain', requestOf(policy, intent, { canonical: bytesToHex(canonicalBytes('conclave/other/v1', [])) })],
  ['bytes that break off', requestOf(policy, intent, { canonical: bytesToHex(intentBytes(intent)).slice(0, -2) })],
  ['an intent of another vault', requestOf(policy, { ...intent, policyHash: '11'.repeat(32) })],
  ['a version that is not in force', requestOf(policy, { ...intent, policyVersion: 2 })],
  ['an expired intent', requestOf(policy, { ...intent, expiresAtMs: NOW_MS })],
  ['another policy than the intent names', requestOf(policyOf({ threshold: 1 }), intent)],
  ['a policy with a field more', requestOf(policy, intent, { policy: withOneField(policyBytes(policy)) })],
  ['a proposed policy beside an intent', changeOf(policy, policy, { canonical: requestOf(policy, intent).canonical })],
])('a request with %s cannot be approved', (_name, request) => {
  const isShown = (error: unknown) => error instanceof InvalidRequest || error instanceof InvalidDocument;
  expect(() => verifyRequest(request, NOW_MS)).toThrow(expect.toSatisfy(isShown));
});

function withOneField(bytes: Uint8Array): string {
  const { domain, fields } = readCanonical(bytes);
  return bytesToHex(canonicalBytes(domain, [...fields, ['cosigner', '4']]));
}

test.each<[string, ApprovalRequest]>([
  ['missing', requestOf(policy, intent, { statements: [] })],
  ['of one co-signer alone', requestOf(policy, intent, { statements: statementsOf(policy).slice(0, 1) })],
  ['of another nonce', requestOf(policy, intent, { statements: statementsOf(policy, { nonce: '00'.repeat(32) }) })],
  ['too old', requestOf(policy, intent, { statements: statementsOf(policy, { issuedAtMs: NOW_MS - 300_001 }) })],
  ['of another vault', requestOf(policy, intent, { statements: statementsOf(policy, { vaultId: 8 }) })],
  ['of keys that were not confirmed', requestOf(policy, intent, { statements: foreign() })],
  ['about no key', changeOf(policy, policyOf({ version: 2, previousHash: hashOf(policy) }), { keys: [] })],
  ['one statement three times', requestOf(policy, intent, { statements: copies() })],
])('statements that are %s do not confirm a policy', (_name, request) => {
  expect(judged(request).fault).toMatch(/^Too few co-signers/);
});

test('a policy with another signing threshold than the confirmed one does not confirm', () => {
  const { fault, isInForce } = judged(requestOf(policy, intent), { cosigners: PINS, threshold: 3 });
  expect([fault, isInForce]).toEqual(['The policy says that 2 co-signers sign together. You confirmed 3.', false]);
  const proposed = policyOf({ version: 2, signingThreshold: 3, previousHash: hashOf(policy) });
  expect(() => verifyRequest(changeOf(policy, proposed), NOW_MS)).toThrow('how many co-signers sign together');
});

function foreign() {
  const said = { policyVersion: 1, policyHash: hashOf(policy) };
  return [1, 2, 3].map((cosigner) => statementOf(cosigner, said, 'mallory'));
}

function copies() {
  const [first] = statementsOf(policy);
  return [1, 2, 3].flatMap((cosigner) => (first === undefined ? [] : [{ ...first, cosigner }]));
}

test.each<[string, { policyVersion: number; policyHash: string }, string]>([
  ['a later policy', { policyVersion: 2, policyHash: '22'.repeat(32) }, 'disagrees'],
  ['another first policy', { policyVersion: 1, policyHash: '22'.repeat(32) }, 'disagrees'],
])(
  'a co-signer that states %s must be acknowledged by the signer, and does not block the request',
  (_name, said, says) => {
    const statements = [...statementsOf(policy).slice(0, 2), statementOf(3, said)];
    const { fault, exceptions, isInForce } = judged(requestOf(policy, intent, { statements }));
    expect([fault, exceptions.map((one) => [one.cosigner, one.says]), isInForce]).toEqual([null, [[3, says]], true]);
    const alone = judged(requestOf(policy, intent, { statements: statements.slice(1) }));
    expect([alone.fault, alone.isInForce]).toEqual([expect.stringMatching(/^Too few co-signers/), false]);
  },
);

test('a co-signer without a statement must be acknowledged like a co-signer that disagrees', () => {
  const statements = statementsOf(policy).slice(0, 2);
  expect(judged(requestOf(policy, intent, { statements })).exceptions).toMatchObject([
    { cosigner: 3, says: 'unknown' },
  ]);
});

test('a co-signer that states the previous policy is reported as behind', () => {
  const next = policyOf({ version: 2, previousHash: hashOf(policy) });
  const behind = statementOf(3, { policyVersion: 1, policyHash: hashOf(policy) });
  const statements = [...statementsOf(next).slice(0, 2), behind];
  expect(judged(requestOf(next, transferOf(next), { statements })).exceptions).toMatchObject([
    { cosigner: 3, says: 'behind', detail: 'Earlier policy: version 1 is in force.' },
  ]);
});

test('co-signers that have adopted the proposed policy agree with the renewal of its mandate', () => {
  const next = policyOf({ version: 2, threshold: 1, previousHash: hashOf(policy) });
  const statements = [...statementsOf(next).slice(0, 2), ...statementsOf(policy).slice(2)];
  const { fault, exceptions, isInForce } = judged(changeOf(policy, next, { statements }));
  // The co-signer keys that the older policy pins are not learned a second time.
  expect([fault, exceptions, isInForce]).toEqual([null, [], false]);
  const other = policyOf({ version: 2, threshold: 2, previousHash: hashOf(policy) });
  const hidden = [...statementsOf(other).slice(0, 2), ...statementsOf(policy).slice(2)];
  expect(judged(changeOf(policy, next, { statements: hidden })).fault).toMatch(/^Too few co-signers/);
});

test('a policy change must follow the policy in force and be the policy that its mandate names', () => {
  const proposed = policyOf({ version: 2, threshold: 1, previousHash: hashOf(policy) });
  expect(verifyRequest(changeOf(policy, proposed), NOW_MS).subject).toMatchObject({ kind: 'change', proposed });
  const skipped = policyOf({ version: 3, previousHash: hashOf(policy) });
  const swapped = { proposed: bytesToHex(policyBytes({ ...proposed, threshold: 2 })) };
  for (const request of [
    changeOf(policy, skipped),
    changeOf(policy, policyOf({ version: 2 })),
    changeOf(policy, proposed, swapped),
    changeOf(policy, proposed, { proposed: null }),
  ]) {
    expect(() => verifyRequest(request, NOW_MS)).toThrow(InvalidRequest);
  }
});

test('the statements of a payment are about the one key that its wallet belongs to', () => {
  const other = keyNamed('other key of the vault');
  for (const [keys, sentence] of [
    [[other], 'The key from the service is not the key of the wallet.'],
    [[{ ...other, keyId: KEY.keyId }], 'A key id does not match its public key.'],
    [[{ ...KEY, keyId: other.keyId }], 'A key id does not match its public key.'],
    [[KEY, other], 'A wallet has exactly one key, and the service named another number of keys.'],
    [[], 'A wallet has exactly one key, and the service named another number of keys.'],
  ] as const) {
    expect(() => verifyRequest(requestOf(policy, intent, { keys }), NOW_MS)).toThrow(new InvalidRequest(sentence));
  }
});

test('each key of a policy change has the id of its public key', () => {
  const proposed = policyOf({ version: 2, previousHash: hashOf(policy) });
  const other = keyNamed('other key of the vault');
  expect(verifyRequest(changeOf(policy, proposed, { keys: [KEY, other] }), NOW_MS).subject.kind).toBe('change');
  const swapped = { keys: [KEY, { ...other, keyId: KEY.keyId }] };
  expect(() => verifyRequest(changeOf(policy, proposed, swapped), NOW_MS)).toThrow('A key id does not match');
});

test('a policy without co-signer keys is checked with the keys from the server, and without keys it is refused', () => {
  const { cosigners: _cosigners, ...old } = policyOf();
  const request = requestOf(old, transferOf(old), { cosigners: PINS });
  expect(claimedPins(request, verifyRequest(request, NOW_MS))).toEqual(PINS);
  const none = { ...request, cosigners: [] };
  expect(() => claimedPins(none, verifyRequest(none, NOW_MS))).toThrow(InvalidRequest);
});

test('co-signer keys that a quorum has adopted replace the confirmed keys', () => {
  const next = policyOf({ cosigners: pinsOf('new') });
  const request = requestOf(next, transferOf(next));
  const verified = verifyRequest(request, NOW_MS);
  expect(pinsAfter(pins, verified)).toEqual({ cosigners: pinsOf('new'), threshold: 2 });
  expect(pinsAfter({ ...pins, cosigners: pinsOf('new') }, verified).cosigners).toEqual(pinsOf('new'));
});

test('a message with a field that the page does not know is refused as a request', () => {
  const request = requestOf(policy, intent);
  expect(parseApprovalRequest(request)).toEqual(request);
  expect(parseApprovalRequest({ ...request, digest: '00'.repeat(32) })).toBe(null);
  expect(parseApprovalRequest({ ...request, version: 2 })).toBe(null);
  expect(parseApprovalRequest({ ...request, canonical: 'FF' })).toBe(null);
  expect(parseApprovalRequest({ ...request, keyIds: [KEY.keyId] })).toBe(null);
  for (const change of [{ use: 'all' }, { scheme: 'bls' }, { publicKey: KEY.publicKey.toUpperCase() }, { keyId: 7 }]) {
    expect(parseApprovalRequest({ ...request, keys: [{ ...KEY, ...change }] })).toBe(null);
  }
  expect(parseApprovalRequest(null)).toBe(null);
});

test('a transaction under a policy of long ago is refused, and described only with a warning', () => {
  const first = policyOf();
  const second = policyOf({ version: 2, previousHash: hashOf(first) });
  const third = policyOf({ version: 3, previousHash: hashOf(second) });
  const request = requestOf(third, transferOf(first));
  const kindOf = (read: () => unknown) => {
    try {
      read();
    } catch (error) {
      return error instanceof InvalidRequest ? error.kind : 'another error';
    }
    return 'accepted';
  };
  expect(kindOf(() => verifyRequest(request, NOW_MS))).toBe('outdated');
  expect(verifyRequest(request, NOW_MS, { outdated: 'described' }).description.warnings).toContain(
    'Created under policy version 1. Version 3 is in force.',
  );
  // A policy of the same version with another hash is no older one.
  for (const reading of [{ outdated: 'described' }, { outdated: 'refused' }] as const) {
    const forged = requestOf(third, transferOf(third, { policyHash: '00'.repeat(32) }));
    expect(kindOf(() => verifyRequest(forged, NOW_MS, reading))).toBe('contradiction');
    const skipped = requestOf(third, transferOf(second, { policyHash: '00'.repeat(32) }));
    expect(kindOf(() => verifyRequest(skipped, NOW_MS, reading))).toBe('contradiction');
  }
  expect(kindOf(() => verifyRequest(request, transferOf(first).expiresAtMs))).toBe('expired');
});
