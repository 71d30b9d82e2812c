import { expect, test } from 'vitest';
import type { StatementEntry, StatementRequest } from '#devices/statement.ts';
import { verifyStatements } from '#devices/statement.ts';
import type { PolicyStatement } from '#domain/policy/statement.ts';
import { STATEMENT_TTL_MS } from '#domain/policy/statement.ts';
import { NOON_MS } from '../domain/cast.ts';
import { paperCosigner } from './statement-scene.ts';

const KEY = 'k'.repeat(26);
const [one, two, three] = [paperCosigner(1), paperCosigner(2), paperCosigner(3)];
const pins = [one.pin, two.pin, three.pin];
const request: StatementRequest = {
  vaultId: 7,
  keyId: KEY,
  signingThreshold: 2,
  nonce: 'ab'.repeat(32),
  policy: { version: 2, hash: 'cd'.repeat(32) },
};

function statement(cosigner: number, differences: Partial<PolicyStatement> = {}): PolicyStatement {
  return {
    cosigner,
    vaultId: request.vaultId,
    keyId: KEY,
    policyVersion: request.policy.version,
    policyHash: request.policy.hash,
    signingThreshold: 2,
    epoch: 1,
    issuedAtMs: NOON_MS,
    nonce: request.nonce,
    ...differences,
  };
}

const entry = (cosigner: number, signed: unknown): StatementEntry => ({ cosigner, keyId: KEY, statement: signed });
const honest = [entry(1, one.sign(statement(1))), entry(2, two.sign(statement(2))), entry(3, three.sign(statement(3)))];
const verify = (entries: readonly StatementEntry[], query = request) =>
  verifyStatements({ pins, request: query, nowMs: NOON_MS, entries });

/** The verdict about co-signer 3 for these statements, while the two other co-signers agree. */
const ofThird = (...delivered: readonly StatementEntry[]) => {
  const [first, second, third] = verify([...honest.slice(0, 2), ...delivered]);
  expect([first?.verdict, second?.verdict]).toEqual(['agrees', 'agrees']);
  return third?.verdict === 'unknown' ? third.reason : third?.verdict;
};

test('co-signers that state the expected policy agree', () => {
  expect(verify(honest)).toEqual([1, 2, 3].map((cosigner) => ({ verdict: 'agrees', cosigner })));
});

test('a co-signer with another version or another hash disagrees, and both are named', () => {
  const older = { policyVersion: 1, policyHash: 'ef'.repeat(32) };
  const [, , third] = verify([...honest.slice(0, 2), entry(3, three.sign(statement(3, older)))]);
  expect(third).toEqual({ verdict: 'disagrees', cosigner: 3, ...older });
  expect(ofThird(entry(3, three.sign(statement(3, { policyVersion: 3 }))))).toBe('disagrees');
  expect(ofThird(entry(3, three.sign(statement(3, { policyHash: 'ef'.repeat(32) }))))).toBe('disagrees');
});

test('a statement with another signing threshold than the confirmed one is unknown', () => {
  expect(ofThird(entry(3, three.sign(statement(3, { signingThreshold: 3 }))))).toBe('other-threshold');
  expect(verify(honest, { ...request, signingThreshold: 3 }).map(({ verdict }) => verdict)).not.toContain('agrees');
});

test('a co-signer whose statement is missing is unknown', () => {
  expect(ofThird()).toBe('missing');
  expect(ofThird(entry(3, null))).toBe('missing');
  expect(ofThird({ ...entry(3, three.sign(statement(3))), keyId: 'other' })).toBe('missing');
  expect(verify([])).toEqual([1, 2, 3].map((cosigner) => ({ verdict: 'unknown', cosigner, reason: 'missing' })));
});

test('a co-signer with two statements is unknown', () => {
  const signed = entry(3, three.sign(statement(3)));
  expect(ofThird(signed, signed)).toBe('repeated');
  expect(ofThird(signed, entry(3, null))).toBe('repeated');
});

test('a statement with the name or the key of another co-signer makes its co-signer unknown', () => {
  expect(ofThird(entry(3, two.sign(statement(3))))).toBe('bad-signature');
  expect(ofThird(entry(3, two.sign(statement(2))))).toBe('other-cosigner');
});

test('a statement with a change in any signed field makes its co-signer unknown', () => {
  const signed = three.sign(statement(3, { policyVersion: 1, issuedAtMs: 5, nonce: '00'.repeat(32) }));
  const { policyVersion, issuedAtMs, nonce } = statement(3);
  expect(ofThird(entry(3, { ...signed, policyVersion, issuedAtMs, nonce }))).toBe('bad-signature');
  expect(ofThird(entry(3, { ...three.sign(statement(3)), epoch: 9 }))).toBe('bad-signature');
  expect(ofThird(entry(3, { ...three.sign(statement(3)), signature: '00'.repeat(64) }))).toBe('bad-signature');
});

test('a statement for another vault, another key or another nonce makes its co-signer unknown', () => {
  expect(ofThird(entry(3, three.sign(statement(3, { vaultId: 8 }))))).toBe('other-vault');
  expect(ofThird(entry(3, three.sign(statement(3, { keyId: 'o'.repeat(26) }))))).toBe('other-key');
  expect(ofThird(entry(3, three.sign(statement(3, { nonce: 'ba'.repeat(32) }))))).toBe('other-nonce');
});

test('a statement is valid for five minutes before and after its time, and not a millisecond longer', () => {
  const at = (issuedAtMs: number) => ofThird(entry(3, three.sign(statement(3, { issuedAtMs }))));
  expect([at(NOON_MS - STATEMENT_TTL_MS), at(NOON_MS + STATEMENT_TTL_MS)]).toEqual(['agrees', 'agrees']);
  expect(at(NOON_MS - STATEMENT_TTL_MS - 1)).toBe('too-old');
  expect(at(NOON_MS + STATEMENT_TTL_MS + 1)).toBe('too-old');
});

test('a value that is not a statement makes its co-signer unknown', () => {
  const signed = three.sign(statement(3));
  const { nonce: _, ...cut } = signed;
  const odd: readonly unknown[] = [
    'agrees',
    7,
    [],
    {},
    cut,
    { ...signed, policyVersion: '2' },
    { ...signed, policyVersion: 2.5 },
    { ...signed, policyHash: request.policy.hash.toUpperCase() },
    { ...signed, signature: signed.signature.slice(2) },
    { ...signed, keyId: null },
  ];
  for (const value of odd) expect(ofThird(entry(3, value))).toBe('malformed');
});

test('a pinned key that is malformed makes its co-signer unknown', () => {
  const broken = [one.pin, two.pin, { index: 3, signing: 'zz'.repeat(32) }];
  const [, , third] = verifyStatements({ pins: broken, request, nowMs: NOON_MS, entries: honest });
  expect(third).toEqual({ verdict: 'unknown', cosigner: 3, reason: 'bad-signature' });
});
