import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import { successionFault, policyHashOf } from '#devices/policy-succession.ts';
import { newPolicyChangeId, parseVaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Actor, Approval } from '#domain/access/approval.ts';
import { present } from '../../chains/evm/cast.ts';
import { alice, bob, carol, mallory, NOON_MS, policy } from '../../domain/cast.ts';
import { next } from './check-scene.ts';

describe('the next policy', () => {
  const requested = next(policy, { threshold: 1 });
  const id = newPolicyChangeId(NOON_MS, new Uint8Array(10));
  const terms = { id, note: null, createdAtMs: NOON_MS, expiresAtMs: NOON_MS + 1 };
  const named = (of: Policy) => bytesToHex(sha256(mandateBytes(terms, policyHashOf(of))));
  const approvalsOf = (of: Policy, ...actors: readonly Actor[]): readonly Approval[] =>
    actors.map((actor) => ({ actor, digest: named(of), device: null, atMs: NOON_MS }));
  const mandate = (approvals: readonly Approval[]) => ({ ...terms, approvals });

  test('the next policy is adopted with the approvals that the version before requires, and not with fewer', async () => {
    expect(await successionFault(policy, requested, mandate(approvalsOf(requested, alice, bob)))).toBeNull();
    expect(await successionFault(policy, requested, mandate(approvalsOf(requested, alice)))).not.toBeNull();
    expect(await successionFault(policy, requested, mandate(approvalsOf(requested, alice, alice)))).not.toBeNull();
    expect(await successionFault(policy, requested, mandate(approvalsOf(requested, alice, mallory)))).not.toBeNull();
    expect(await successionFault(policy, requested, null)).not.toBeNull();
  });

  test('the next policy needs the highest number of approvals that any rule of the version before requires', async () => {
    const steps = { ...NO_RULES, unreadableThreshold: 3 };
    const strict = { ...policy, rules: steps };
    const looser = next(strict, { rules: NO_RULES });
    expect(await successionFault(strict, looser, mandate(approvalsOf(looser, alice, bob)))).not.toBeNull();
    expect(await successionFault(strict, looser, mandate(approvalsOf(looser, alice, bob, carol)))).toBeNull();
  });

  test('the next policy is adopted only as approved, for the same vault, and as the next version', async () => {
    const approvals = approvalsOf(requested, alice, bob);
    const other = { ...requested, signers: [alice.userId] };
    const skipping = { ...requested, version: 3 };
    const elsewhere = { ...requested, previousHash: '11'.repeat(32) };
    const foreign = { ...requested, vaultId: present(parseVaultId(2)) };
    for (const changed of [other, skipping, elsewhere, foreign]) {
      expect(await successionFault(policy, changed, mandate(approvals))).not.toBeNull();
    }
    for (const changed of [skipping, elsewhere, foreign]) {
      expect(await successionFault(policy, changed, mandate(approvalsOf(changed, alice, bob)))).not.toBeNull();
    }
    // A mandate with other terms than the approved ones is refused too.
    expect(await successionFault(policy, requested, { ...mandate(approvals), note: 'harmless' })).not.toBeNull();
    expect(
      await successionFault(policy, requested, { ...mandate(approvals), expiresAtMs: NOON_MS + 2 }),
    ).not.toBeNull();
  });
});
