import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { claimedPins, confirm, pinsAfter } from '#approval-page/cosigners/confirm.ts';
import { readPolicyView } from '#review/verified-request.ts';
import type { PolicyViewRequest } from '#domain/access/approval-page-message.ts';
import { parseApprovalRequest } from '#domain/access/approval-page-message.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { describeChange, describePolicy, policyFacts } from '#review/describe-change.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
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
  statementOf,
  statementsOf,
  THIEF,
} from './request-scene.ts';

const POLICY = policyOf();

function viewOf(policy: Policy, changes: Partial<PolicyViewRequest> = {}): PolicyViewRequest {
  return {
    type: 'conclave/approval/policy-view',
    version: 1,
    requestId: 'request-1',
    policy: bytesToHex(policyBytes(policy)),
    keys: [KEY],
    statements: statementsOf(POLICY),
    cosigners: [],
    ...changes,
  };
}

function faultOf(request: PolicyViewRequest): string | null {
  const given = { pins: { cosigners: PINS, threshold: 2 }, nonce: NONCE, nowMs: NOW_MS };
  return confirm(readPolicyView(request), request, given).fault;
}

test('a policy that the co-signers state is shown whole', () => {
  const request = viewOf(POLICY);
  expect(parseApprovalRequest(request)).toEqual(request);
  const shown = readPolicyView(request);
  expect(faultOf(request)).toBe(null);
  expect(claimedPins(request, shown)).toEqual(PINS);
  const { facts } = describePolicy(shown.inForce, shown.inForceHash);
  const text = JSON.stringify(facts);
  for (const one of policyFacts(POLICY)) expect(text).toContain(JSON.stringify(one));
  expect(text).toContain(`version 1, hash ${hashOf(POLICY)}`);
  // A difference against the same policy finds no statement that the view lacks.
  const next = policyOf({ version: 2, previousHash: hashOf(POLICY), signers: [], devices: [] });
  const { canonical } = changeOf(POLICY, next);
  const removed = describeChange(readMandate(Buffer.from(canonical, 'hex')), POLICY, next).facts.filter(({ label }) =>
    label.startsWith('Removed'),
  );
  for (const one of removed) expect(facts.map(({ text: shownText }) => shownText)).toContain(one.text);
});

test.each([
  ['another policy', viewOf(policyOf({ threshold: 1 }))],
  ['an added payee', viewOf(policyOf({ rules: { ...POLICY.rules, recipients: 'anyone', addressBook: [] } }))],
  ['an older nonce', viewOf(POLICY, { statements: statementsOf(POLICY, { nonce: '6b'.repeat(32) }) })],
  ['an old statement', viewOf(POLICY, { statements: statementsOf(POLICY, { issuedAtMs: NOW_MS - 3_600_000 }) })],
  ['statements of other co-signers', viewOf(POLICY, { statements: forged(['thief', 'thief', 'honest']) })],
  ['one honest statement of three', viewOf(POLICY, { statements: forged(['honest']) })],
  ['no statement', viewOf(POLICY, { statements: [] })],
  ['another signing threshold', viewOf(policyOf({ signingThreshold: 3 }))],
])('%s is not proven', (_name, request) => {
  expect(faultOf(request)).not.toBe(null);
});

function forged(operators: readonly string[]) {
  const inForce = { policyVersion: 1, policyHash: hashOf(POLICY) };
  return operators.map((operator, i) => statementOf(i + 1, inForce, operator));
}

test('keys that do not follow from their public key, and a vault without keys, prove nothing', () => {
  expect(() => readPolicyView(viewOf(POLICY, { keys: [] }))).toThrow('no key yet');
  const other = { ...keyNamed('another key'), keyId: KEY.keyId };
  expect(() => readPolicyView(viewOf(POLICY, { keys: [other] }))).toThrow('does not match');
});

test('one co-signer of three that is behind does not hide the policy, and is named', () => {
  const before = policyOf({ rules: { ...POLICY.rules, recipients: 'anyone' } });
  const inForce = policyOf({ version: 2, previousHash: hashOf(before) });
  const statements = [
    statementOf(1, { policyVersion: 2, policyHash: hashOf(inForce) }),
    statementOf(2, { policyVersion: 2, policyHash: hashOf(inForce) }),
    statementOf(3, { policyVersion: 1, policyHash: hashOf(before) }),
  ];
  const request = viewOf(inForce, { statements });
  const pins = { cosigners: PINS, threshold: 2 };
  const confirmation = confirm(readPolicyView(request), request, { pins, nonce: NONCE, nowMs: NOW_MS });
  expect([confirmation.fault, confirmation.isInForce]).toEqual([null, true]);
  expect(confirmation.verdicts.map(({ says }) => says)).toEqual(['agrees', 'agrees', 'behind']);
});

test('keys of co-signers that a quorum adopted are known for the next request', () => {
  const moved = policyOf({ cosigners: pinsOf('new') });
  const pins = { cosigners: PINS, threshold: 2 };
  expect(pinsAfter(pins, readPolicyView(viewOf(moved)))).toEqual({ cosigners: pinsOf('new'), threshold: 2 });
});

test('a message with another field, or with a signature to make, is no request to read', () => {
  const request = viewOf(POLICY);
  for (const change of [{ canonical: '00' }, { userId: THIEF }, { policy: 'FF' }, { keys: [{ ...KEY, more: 1 }] }]) {
    expect(parseApprovalRequest({ ...request, ...change })).toBe(null);
  }
  const { cosigners: _cosigners, ...without } = request;
  expect(parseApprovalRequest(without)).toBe(null);
});
