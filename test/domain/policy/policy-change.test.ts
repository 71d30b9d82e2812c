import { expect, test } from 'vitest';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyChange, PolicyChangeEvent } from '#domain/policy/policy-change.ts';
import type { PolicyChangeState } from '#domain/policy/change-state.ts';
import { decideChange, mandateBytes } from '#domain/policy/policy-change.ts';
import { POLICY_CHANGE_STATES } from '#domain/policy/change-state.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { alice, bob, carol, CREATED_AT_MS, EXPIRES_AT_MS, mallory, NOON_MS, policy, approvalBy } from '../cast.ts';
import { PENDING } from './pending-change.ts';

const change = (differences: Partial<PolicyChange> = {}): PolicyChange => ({ ...PENDING, ...differences });

function after(before: PolicyChange, event: PolicyChangeEvent, nowMs = NOON_MS): PolicyChange | string {
  const decided = decideChange(before, event, { current: policy, nowMs });
  return decided.ok ? decided.value : decided.refusal.code;
}

const stateAfter = (...[before, event, nowMs]: Parameters<typeof after>) => {
  const result = after(before, event, nowMs);
  return typeof result === 'string' ? result : result.state;
};

const ALICE_DISABLED = [
  { userId: alice.userId, tokenId: null, disabledBy: null, disabledAtMs: NOON_MS, untilMs: null },
];

const EVENTS: Record<PolicyChangeEvent['type'], PolicyChangeEvent> = {
  approve: { type: 'approve', actor: bob, device: null },
  reject: { type: 'reject', actor: bob, device: null },
  cancel: { type: 'cancel', actor: alice },
  'drop-decisions': { type: 'drop-decisions', disabledAccess: ALICE_DISABLED },
  expire: { type: 'expire' },
  supersede: { type: 'supersede' },
};
const NO = 'policy-change-not-pending';

/**
 * The results per state, in the order of POLICY_CHANGE_STATES: PENDING, ADOPTED, REJECTED,
 * CANCELLED, EXPIRED, SUPERSEDED.
 */
const MATRIX: Record<PolicyChangeEvent['type'], readonly string[]> = {
  approve: ['ADOPTED', NO, NO, NO, NO, NO],
  reject: ['PENDING', NO, NO, NO, NO, NO],
  cancel: ['CANCELLED', NO, NO, 'CANCELLED', NO, NO],
  'drop-decisions': ['PENDING', 'ADOPTED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'SUPERSEDED'],
  expire: ['EXPIRED', 'ADOPTED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'SUPERSEDED'],
  supersede: ['SUPERSEDED', 'ADOPTED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'SUPERSEDED'],
};

for (const [type, cells] of Object.entries(MATRIX)) {
  for (const [i, expected] of cells.entries()) {
    const state: PolicyChangeState = POLICY_CHANGE_STATES[i] ?? 'PENDING';
    test(`${type} on a change that is ${state} gives ${expected}`, () => {
      const event = EVENTS[type as PolicyChangeEvent['type']];
      const nowMs = type === 'expire' ? EXPIRES_AT_MS : NOON_MS;
      expect(stateAfter(change({ state, approvals: [approvalBy(alice)] }), event, nowMs)).toBe(expected);
    });
  }
}

test('an approval covers the change, the policy, the texts and the time, in this order', () => {
  const fields = [
    ['id', PENDING.id],
    ['policyHash', 'ab'.repeat(32)],
    ['note', 'because'],
    ['createdAtMs', String(CREATED_AT_MS)],
    ['expiresAtMs', String(EXPIRES_AT_MS)],
  ];
  const bytes = mandateBytes({ ...PENDING, note: 'because' }, 'ab'.repeat(32));
  expect(readCanonical(bytes)).toEqual({ domain: 'conclave/policy-change/v1', fields });
});

test('approvals below the threshold decide nothing, and two approvals of one signer count once', () => {
  const once = after(change(), { type: 'approve', actor: alice, device: null });
  if (typeof once === 'string') throw new Error(once);
  expect([once.state, once.approvals.length]).toEqual(['PENDING', 1]);
  expect(after(once, { type: 'approve', actor: alice, device: null })).toBe(once);
});

test('only an approval by a signer of the policy in force counts', () => {
  const withStranger = change({ approvals: [approvalBy(mallory)] });
  expect(stateAfter(withStranger, { type: 'approve', actor: alice, device: null })).toBe('PENDING');
});

test('an approval of another digest does not count', () => {
  const strange = change({ approvals: [approvalBy(carol, 'ee'.repeat(32))] });
  expect(stateAfter(strange, { type: 'approve', actor: alice, device: null })).toBe('PENDING');
});

test('an approval in the millisecond of the expiry is too late, and one a millisecond earlier counts', () => {
  const approve: PolicyChangeEvent = { type: 'approve', actor: bob, device: null };
  const almost = change({ approvals: [approvalBy(alice)] });
  expect(stateAfter(almost, approve, EXPIRES_AT_MS)).toBe(NO);
  expect(stateAfter(almost, approve, EXPIRES_AT_MS - 1)).toBe('ADOPTED');
  expect(stateAfter(almost, { type: 'expire' }, EXPIRES_AT_MS - 1)).toBe('PENDING');
});

test('a signer who repeats a decision after a lost response gets the same result', () => {
  const adopted = change({ state: 'ADOPTED', approvals: [approvalBy(alice), approvalBy(bob)] });
  expect(after(adopted, { type: 'approve', actor: bob, device: null })).toBe(adopted);
  const rejected = change({ state: 'REJECTED', rejections: [approvalBy(bob)] });
  expect(after(rejected, { type: 'reject', actor: bob, device: null })).toBe(rejected);
  expect(after(rejected, { type: 'reject', actor: carol, device: null })).toBe(NO);
});

test('the refusal of an approval names its exact reason', () => {
  const approve: PolicyChangeEvent = { type: 'approve', actor: bob, device: null };
  const refusalOf = (before: PolicyChange, current: Policy, nowMs: number) => {
    const decided = decideChange(before, approve, { current, nowMs });
    return decided.ok ? null : decided.refusal;
  };
  expect(refusalOf(change(), policy, EXPIRES_AT_MS)).toEqual({ code: NO, state: 'EXPIRED' });
  expect(refusalOf(change({ state: 'REJECTED' }), policy, NOON_MS)).toEqual({ code: NO, state: 'REJECTED' });
  const byDevice: Policy = { ...policy, approvalMode: 'device' };
  expect(refusalOf(change(), byDevice, NOON_MS)).toEqual({ code: 'device-signature-required' });
  const reject: PolicyChangeEvent = { type: 'reject', actor: bob, device: null };
  expect(decideChange(change(), reject, { current: byDevice, nowMs: NOON_MS })).toEqual({
    ok: false,
    refusal: { code: 'device-signature-required' },
  });
});

test('an approval of a change that has ended is refused, also from a signer who approved it before', () => {
  const approve: PolicyChangeEvent = { type: 'approve', actor: bob, device: null };
  for (const state of ['REJECTED', 'CANCELLED', 'EXPIRED', 'SUPERSEDED'] as const) {
    expect([state, after(change({ state, approvals: [approvalBy(bob)] }), approve)]).toEqual([state, NO]);
  }
});
