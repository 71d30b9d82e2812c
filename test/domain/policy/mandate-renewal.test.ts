import { expect, test } from 'vitest';
import { neededRenewals, renewalRefusal } from '#domain/policy/mandate-renewal.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { CREATED_AT_MS, EXPIRES_AT_MS, policy } from '../cast.ts';

const id = newPolicyChangeId(CREATED_AT_MS, new Uint8Array(10));
const first: AdoptedPolicy = { policy, mandate: null };
const at = (nowMs: number) => ({ nowMs, unfounded: null });
const adopted = (version: number, expiresAtMs = EXPIRES_AT_MS): AdoptedPolicy => {
  const of = { ...policy, version };
  return {
    policy: of,
    mandate: { id, policy: of, note: null, createdAtMs: CREATED_AT_MS, expiresAtMs, approvals: [] },
  };
};

test('a mandate is renewable as soon as co-signers refuse it, and policy version 1 has none', () => {
  const code = (...request: Parameters<typeof renewalRefusal>) => renewalRefusal(...request)?.code ?? null;
  expect(code(null, at(EXPIRES_AT_MS))).toBe('policy-version-not-found');
  expect(code(first, at(EXPIRES_AT_MS))).toBe('policy-version-not-found');
  expect(code(adopted(2), at(EXPIRES_AT_MS - 1))).toBe('mandate-in-force');
  expect(code(adopted(2), at(EXPIRES_AT_MS))).toBeNull();
});

test('a co-signer that refused a policy version waits for that version and every later expired one', () => {
  const policies = [first, adopted(2), adopted(3), adopted(4, EXPIRES_AT_MS + 1)];
  const refused = [
    { cosigner: 3, version: 3 },
    { cosigner: 1, version: 2 },
    { cosigner: 1, version: 2 },
  ];
  expect(neededRenewals(policies, refused, at(EXPIRES_AT_MS))).toEqual([
    { version: 2, cosigners: [1] },
    { version: 3, cosigners: [1, 3] },
  ]);
  expect(neededRenewals(policies, [{ cosigner: 3, version: 3 }], at(EXPIRES_AT_MS))).toEqual([
    { version: 3, cosigners: [3] },
  ]);
  expect(neededRenewals(policies, [], at(EXPIRES_AT_MS))).toEqual([]);
  expect(neededRenewals(policies, refused, at(EXPIRES_AT_MS - 1))).toEqual([]);
});

test('a vault without a key waits for every expired mandate', () => {
  const policies = [first, adopted(2), adopted(3, EXPIRES_AT_MS + 1)];
  expect(neededRenewals(policies, null, at(EXPIRES_AT_MS))).toEqual([{ version: 2, cosigners: [] }]);
  expect(neededRenewals(policies, null, at(EXPIRES_AT_MS - 1))).toEqual([]);
});
