/**
 * Attack: the coordinator requests approvals that end in the year 9999, and uses them when the
 *   signers have forgotten or rejected them.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: F13
 * Defence: a co-signer refuses an intent or a mandate that would live longer than 90 days, and a
 *   mandate that was created ahead of its clock.
 */
import { expect, test } from 'vitest';
import { CREATION_TOLERANCE_MS } from '#cosigner/policy/approval-check.ts';
import { isExpired } from '#cosigner/policy/policy-chain.ts';
import { newPolicyChangeId } from '#domain/id.ts';
import { MAX_APPROVAL_LIFETIME_MS } from '#domain/transaction/intent.ts';
import { alice, bob, NOON_MS } from '../../../domain/cast.ts';
import { answer, intent, request, approvalsBy } from '../../../cosigner/policy/check-scene.ts';

const YEAR_9999_MS = Date.parse('9999-01-01T00:00:00Z');

function ending(changes: Partial<typeof intent>) {
  const dated = { ...intent, createdAtMs: NOON_MS, ...changes };
  return answer(request({ approvals: approvalsBy(dated, alice, bob) }, dated));
}

test('an intent that could be signed for more than 90 days is not signed, even with all its approvals', async () => {
  const last = NOON_MS + MAX_APPROVAL_LIFETIME_MS;
  expect(await ending({ expiresAtMs: YEAR_9999_MS })).toBe('expired lifetime');
  expect(await ending({ createdAtMs: 0, expiresAtMs: last })).toBe('expired lifetime');
  expect(await ending({ notAfterMs: YEAR_9999_MS })).toBe('expired lifetime');
  expect(await ending({ expiresAtMs: last + 1 })).toBe('expired lifetime');
  expect(await ending({ expiresAtMs: last })).toBe('signs');
});

test('a mandate of more than 90 days, or one that is created ahead of the clock, does not count', () => {
  const terms = { id: newPolicyChangeId(NOON_MS, new Uint8Array(10)), note: null, approvals: [] };
  const counts = (createdAtMs: number, expiresAtMs: number) =>
    !isExpired({ ...terms, createdAtMs, expiresAtMs }, NOON_MS);
  expect(counts(NOON_MS, NOON_MS + MAX_APPROVAL_LIFETIME_MS)).toBe(true);
  expect(counts(NOON_MS, NOON_MS + MAX_APPROVAL_LIFETIME_MS + 1)).toBe(false);
  expect(counts(0, YEAR_9999_MS)).toBe(false);
  expect(counts(NOON_MS + CREATION_TOLERANCE_MS, NOON_MS + 2 * CREATION_TOLERANCE_MS)).toBe(true);
  expect(counts(NOON_MS + CREATION_TOLERANCE_MS + 1, NOON_MS + 2 * CREATION_TOLERANCE_MS)).toBe(false);
});
