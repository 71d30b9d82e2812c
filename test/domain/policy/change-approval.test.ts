import { expect, test } from 'vitest';
import type { Member, Role } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import {
  ADOPTION_PERIOD_MS,
  awaitsChangeApprovalOf,
  decideChange,
  judgeOf,
  mayApprove,
  mayReject,
  MAX_POLICIES_AT_ONCE,
} from '#domain/policy/policy-change.ts';
import type { Device } from '#domain/access/device.ts';
import type { Actor } from '#domain/access/approval.ts';
import { deviceOf } from '../access/devices.ts';
import { alice, approvalBy, bob, carol, NOON_MS, policy } from '../cast.ts';
import { PENDING } from './pending-change.ts';

/** Covers whom a policy change waits for, and whose rejection counts. */

const member = ({ userId }: Actor, roles: readonly Role[] = ['signer']): Member => ({ userId, roles });

test('a change waits for the signers who have not approved it, and for no other member', () => {
  const half = { ...PENDING, approvals: [approvalBy(alice)] };
  const waits = (actor: Actor, roles?: readonly Role[]) => awaitsChangeApprovalOf(member(actor, roles), half, policy);
  expect([waits(alice), waits(bob), waits(carol)]).toEqual([false, true, true]);
  expect([waits(bob, ['admin']), waits(bob, ['viewer', 'initiator'])]).toEqual([false, false]);
});

test('a change does not wait for the signer that it removes', () => {
  const { signers } = policy;
  const removal = { ...PENDING, policy: { ...PENDING.policy, signers: signers.filter((id) => id !== carol.userId) } };
  const waits = (actor: Actor) => awaitsChangeApprovalOf(member(actor), removal, policy);
  expect([waits(alice), waits(carol)]).toEqual([true, false]);
});

test('exactly the signers of the policy before approve a renewal, and only present signers reject it', () => {
  const before: Policy = { ...policy, signers: [alice.userId, bob.userId] };
  const renewal = { ...PENDING, renewsVersion: 2 };
  const former = member(alice, ['viewer']);
  const later = member(carol);
  expect([mayApprove(former, renewal, before), mayApprove(later, renewal, before)]).toEqual([true, false]);
  expect([mayReject(former, renewal, before), mayReject(later, renewal, before)]).toEqual([false, false]);
  expect([mayApprove(member(bob), renewal, before), mayReject(member(bob), renewal, before)]).toEqual([true, true]);
  expect([mayApprove(former, PENDING, before), mayApprove(later, PENDING, before)]).toEqual([false, true]);
  expect([mayReject(former, PENDING, before), mayReject(later, PENDING, before)]).toEqual([false, true]);
});

const [alices, alicesSecond, bobs] = [deviceOf(alice, 1), deviceOf(alice, 2), deviceOf(bob, 3)] as const;
const two: Policy = { ...policy, signers: [alice.userId, bob.userId] };
/** The change begins device mode, so every device of the new policy signs it. */
const founding: PolicyChange = {
  ...PENDING,
  policy: { ...two, version: 2, approvalMode: 'device', devices: [alices, alicesSecond, bobs] },
};
const approval = (actor: Actor, { keyId }: Device) => {
  return { ...approvalBy(actor), device: { keyId, signature: 'AA', assertion: null } };
};

test('a change that begins device mode waits for every device', () => {
  const waits = (approvals: PolicyChange['approvals']) =>
    [alice, bob].map((actor) => awaitsChangeApprovalOf(member(actor), { ...founding, approvals }, two));
  expect(waits([])).toEqual([true, true]);
  expect(waits([approval(alice, alices)])).toEqual([true, true]);
  expect(waits([approval(alice, alices), approval(alice, alicesSecond)])).toEqual([false, true]);
  expect(waits([approval(alice, alices), approval(bob, bobs)])).toEqual([true, false]);
  expect([judgeOf(founding, alice.userId, two), judgeOf(PENDING, alice.userId, policy)]).toEqual([
    founding.policy,
    policy,
  ]);
});

test('a change that begins device mode is adopted when every device has signed it', () => {
  const steps = [
    [alice, alices],
    [bob, bobs],
    [alice, alices],
    [alice, alicesSecond],
  ] as const;
  const states = [];
  let change = founding;
  for (const [actor, device] of steps) {
    const signature = { keyId: device.keyId, signature: 'AA', assertion: null };
    const decided = decideChange(
      change,
      { type: 'approve', actor, device: signature },
      { current: two, nowMs: NOON_MS },
    );
    if (!decided.ok) throw new Error(decided.refusal.code);
    change = decided.value;
    states.push([change.state, change.approvals.length]);
  }
  expect(states).toEqual([
    ['PENDING', 1],
    ['PENDING', 2],
    ['PENDING', 2],
    ['ADOPTED', 3],
  ]);
});

test('a rejection keeps its reason, and one without a reason has none', () => {
  const reject = (reason?: string) => {
    const event = { type: 'reject', actor: bob, device: null, ...(reason === undefined ? {} : { reason }) } as const;
    const decided = decideChange(PENDING, event, { current: policy, nowMs: NOON_MS });
    if (!decided.ok) throw new Error(decided.refusal.code);
    return decided.value.rejections[0];
  };
  expect(reject('too low')).toMatchObject({ actor: bob, reason: 'too low' });
  expect(Object.keys(reject() ?? {})).not.toContain('reason');
});

test('a change can be adopted for seven days, and a co-signer takes a thousand policies at once', () => {
  expect([ADOPTION_PERIOD_MS, MAX_POLICIES_AT_ONCE]).toEqual([604_800_000, 1000]);
});
