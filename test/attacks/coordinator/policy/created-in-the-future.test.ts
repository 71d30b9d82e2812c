/**
 * Attack: the coordinator dates an intent into the future, so that a co-signer that has lost its
 *   records signs it a second time.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 14
 * Defence: a co-signer refuses an intent that was created more than a minute ahead of its own
 *   clock.
 */
import { expect, test } from 'vitest';
import { CREATION_TOLERANCE_MS } from '#cosigner/policy/approval-check.ts';
import { alice, bob, NOON_MS } from '../../../domain/cast.ts';
import { answer, intent, request, approvalsBy } from '../../../cosigner/policy/check-scene.ts';

function created(createdAtMs: number) {
  const dated = { ...intent, createdAtMs, expiresAtMs: createdAtMs + 3_600_000 };
  return answer(request({ approvals: approvalsBy(dated, alice, bob) }, dated));
}

test('an intent dated to the year 2100 is not signed, even with all its approvals', async () => {
  expect(await created(Date.parse('2100-01-01T00:00:00Z'))).toBe('created-in-the-future');
  expect(await created(NOON_MS + CREATION_TOLERANCE_MS + 1)).toBe('created-in-the-future');
  expect(await created(NOON_MS + CREATION_TOLERANCE_MS)).toBe('signs');
  expect(await created(NOON_MS)).toBe('signs');
});
