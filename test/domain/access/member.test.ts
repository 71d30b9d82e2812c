import { expect, test } from 'vitest';
import type { Permission, Role } from '#domain/access/member.ts';
import { hasPermission, mayCancel } from '#domain/access/member.ts';
import { alice, bob } from '../cast.ts';

const TABLE: Record<Role, Record<Permission, boolean>> = {
  viewer: { view: true, create: false, curate: false, decide: false, propose: false, administer: false },
  initiator: { view: true, create: true, curate: true, decide: false, propose: false, administer: false },
  signer: { view: true, create: true, curate: true, decide: true, propose: true, administer: false },
  admin: { view: true, create: false, curate: true, decide: false, propose: true, administer: true },
};

for (const [role, permissions] of Object.entries(TABLE)) {
  for (const [permission, allowed] of Object.entries(permissions)) {
    test(`a ${role} ${allowed ? 'may' : 'may not'} ${permission}`, () => {
      expect(hasPermission({ roles: [role as Role] }, permission as Permission)).toBe(allowed);
    });
  }
}

test('a user who is not a member may do nothing, and neither may a member without a role', () => {
  for (const permission of ['view', 'create', 'curate', 'decide', 'propose', 'administer'] as const) {
    expect(hasPermission(null, permission)).toBe(false);
    expect(hasPermission({ roles: [] }, permission)).toBe(false);
  }
});

test('a creator who may still create can cancel a transaction, and an admin can cancel any', () => {
  const member = (...roles: Role[]) => ({ userId: alice.userId, roles });
  const cases: readonly (readonly [Role[], boolean, boolean])[] = [
    [['initiator'], true, false],
    [['signer'], true, false],
    [['viewer'], false, false],
    [[], false, false],
    [['admin'], true, true],
  ];
  for (const [roles, own, others] of cases) {
    expect([roles, mayCancel(member(...roles), alice.userId), mayCancel(member(...roles), bob.userId)]).toEqual([
      roles,
      own,
      others,
    ]);
  }
});
