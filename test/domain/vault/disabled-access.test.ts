import { expect, test } from 'vitest';
import type { AccessAct, MemberAccessAct } from '#domain/access/disabled-access.ts';
import { isWithdrawn } from '#domain/access/disabled-access.ts';
import type { UserId } from '#domain/id.ts';
import type { PolicyChangeEvent } from '#domain/policy/policy-change.ts';
import { decideChange } from '#domain/policy/policy-change.ts';
import { withAccessAct, withMemberAccess } from '#domain/vault/member-access.ts';
import { authorize } from '#domain/vault/membership.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { actor, alice, approvalBy, bob, carol, mallory, NOON_MS, policy } from '../cast.ts';
import { keyOf } from '../access/devices.ts';
import { PENDING } from '../policy/pending-change.ts';
import { treasury } from './treasury.ts';

const HOUR_MS = 60 * 60 * 1000;
const by = (version: number, atMs = NOON_MS) => ({ version, serviceKey: '0123abcd', atMs });
const disable = (version: number): AccessAct => ({ kind: 'disable-user', ...by(version) });
const enable = (version: number): AccessAct => ({ kind: 'enable-user', ...by(version) });
const end = (version: number, atMs = NOON_MS): AccessAct => {
  const { tokenId } = bob;
  return { kind: 'end-credential', tokenId, ...by(version, atMs) };
};

/** Another credential of the same person. */
const bobElsewhere = { ...bob, tokenId: actor(8).tokenId };
const enters = (vault: Vault, who: typeof bob) => authorize(vault, who, 'view').ok;
const after = (vault: Vault, ...acts: readonly AccessAct[]) =>
  acts.reduce((now, act) => withAccessAct(now, bob.userId, act), vault);

test('a disabled person enters with no credential until an operator enables the person', () => {
  const disabled = after(treasury, disable(1));
  expect([bob, bobElsewhere, alice].map((who) => enters(disabled, who))).toEqual([false, false, true]);
  const enabled = after(disabled, enable(2));
  expect([enters(enabled, bob), enabled.disabledAccess]).toEqual([true, []]);
});

test('an act that is known, or older than a known one, changes nothing', () => {
  const enabled = after(treasury, disable(1), enable(2));
  expect(after(enabled, disable(1), enable(2))).toBe(enabled);
  // Each person has acts of their own.
  expect(withAccessAct(enabled, carol.userId, disable(1))).not.toBe(enabled);
});

test('an ended credential enters no more, and the others of its person do', () => {
  const ended = after(treasury, end(1));
  expect([bob, bobElsewhere].map((who) => enters(ended, who))).toEqual([false, true]);
  expect(enters(after(ended, enable(2)), bob)).toBe(false);
});

test('the object of an ended credential refuses it, so a vault forgets it after an hour', () => {
  const ended = after(treasury, end(1));
  const before = after(ended, { ...enable(2), atMs: NOON_MS + HOUR_MS - 1 });
  expect(before.disabledAccess).toEqual(ended.disabledAccess);
  expect(after(ended, { ...enable(2), atMs: NOON_MS + HOUR_MS }).disabledAccess).toEqual([]);
});

test('what an admin has disabled stays disabled after an act of an operator', () => {
  const byAdmin = { userId: bob.userId, tokenId: null, disabledBy: alice.userId, disabledAtMs: 0, untilMs: null };
  const vault = { ...treasury, disabledAccess: [byAdmin] };
  expect(after(vault, enable(1)).disabledAccess).toEqual([byAdmin]);
});

test('a device signature counts without the credential that carried it, and not for a disabled person', () => {
  const device = { keyId: keyOf(1), signature: 'A'.repeat(86), assertion: null };
  const [unsigned, signed] = [approvalBy(bob), { ...approvalBy(bob), device }];
  const [ended, disabled] = [after(treasury, end(1)), after(treasury, disable(1))];
  const withdrawn = ({ disabledAccess }: Vault) => [unsigned, signed].map((one) => isWithdrawn(disabledAccess, one));
  expect([withdrawn(ended), withdrawn(disabled), withdrawn(treasury)]).toEqual([
    [true, false],
    [true, true],
    [false, false],
  ]);
});

test('approvals and rejections of a disabled person leave a pending policy change', () => {
  const [approvals, rejections] = [[approvalBy(alice), approvalBy(bob)], [approvalBy(carol)]];
  const change = { ...PENDING, approvals, rejections };
  const drop = (vault: Vault) => {
    const event: PolicyChangeEvent = { type: 'drop-decisions', disabledAccess: vault.disabledAccess };
    const decided = decideChange(change, event, { current: policy, nowMs: NOON_MS });
    return decided.ok ? decided.value : decided.refusal;
  };
  expect(drop(treasury)).toBe(change);
  expect(drop(after(treasury, disable(1)))).toEqual({
    ...change,
    approvals: [approvalBy(alice)],
    updatedAtMs: NOON_MS,
  });
  const withoutCarol = withAccessAct(treasury, carol.userId, disable(1));
  expect(drop(withoutCarol)).toEqual({ ...change, rejections: [], updatedAtMs: NOON_MS });
});

const admin = { ...treasury, members: [...treasury.members, { userId: mallory.userId, roles: ['admin'] as const }] };
const actOf = (vault: Vault, userId: UserId | null, act: MemberAccessAct, caller = mallory) =>
  withMemberAccess(vault, { actor: caller, userId, nowMs: NOON_MS }, act);
const vaultAfter = (...[vault, userId, act]: Parameters<typeof actOf>) => {
  const done = actOf(vault, userId, act);
  if (!done.ok) throw new Error(done.refusal.code);
  return done.value;
};
const DISABLE = { kind: 'disable-member' } as const;

test('an admin disables a member, and not so many signers that the others have no quorum', () => {
  const one = vaultAfter(admin, bob.userId, DISABLE);
  expect([enters(one, bob), enters(one, alice)]).toEqual([false, true]);
  expect(vaultAfter(one, bob.userId, DISABLE)).toBe(one);
  expect(actOf(one, carol.userId, DISABLE)).toEqual({ ok: false, refusal: { code: 'quorum-disabled' } });
  const enabled = vaultAfter(one, bob.userId, { kind: 'enable-member' });
  expect(enabled).toEqual(admin);
});

test('only an admin acts, on another member', () => {
  const refusal = (...args: Parameters<typeof actOf>) => {
    const done = actOf(...args);
    return done.ok ? null : done.refusal.code;
  };
  expect(refusal(admin, bob.userId, DISABLE, alice)).toBe('forbidden');
  expect(refusal(admin, mallory.userId, DISABLE)).toBe('own-access');
  expect([refusal(admin, actor(7).userId, DISABLE), refusal(admin, null, DISABLE)]).toEqual([
    'member-not-found',
    'member-not-found',
  ]);
  expect(refusal(withAccessAct(admin, mallory.userId, disable(1)), bob.userId, DISABLE)).toBe('forbidden');
});

test('an admin does not end what an operator did, and a session is forgotten at its end', () => {
  const stopped = after(admin, disable(1));
  expect(vaultAfter(stopped, bob.userId, { kind: 'enable-member' })).toBe(stopped);
  const ending = (untilMs: number | null) =>
    ({ kind: 'end-member-credential', tokenId: bob.tokenId, untilMs }) as const;
  const [session, token] = [ending(NOON_MS + 1), ending(null)].map((act) => vaultAfter(admin, bob.userId, act));
  if (session === undefined || token === undefined) throw new Error('both acts are carried out');
  expect([enters(session, bob), enters(session, bobElsewhere)]).toEqual([false, true]);
  expect(vaultAfter(session, bob.userId, ending(NOON_MS + 1))).toBe(session);
  const later = { ...enable(1), atMs: NOON_MS + 1 };
  expect([after(session, later), after(token, later)].map((one) => enters(one, bob))).toEqual([true, false]);
});

test('a vault refuses five hundred members and credentials', () => {
  const one = { userId: bob.userId, disabledBy: mallory.userId, disabledAtMs: 0, untilMs: null };
  const disabledAccess = Array.from({ length: 500 }, (_, i) => ({ ...one, tokenId: actor(i + 10).tokenId }));
  const full = { ...admin, disabledAccess };
  const last = { kind: 'end-member-credential', tokenId: bob.tokenId, untilMs: null } as const;
  expect(actOf(full, bob.userId, last)).toEqual({ ok: false, refusal: { code: 'too-much-disabled', limit: 500 } });
  expect(actOf({ ...full, disabledAccess: disabledAccess.slice(1) }, bob.userId, last).ok).toBe(true);
});
