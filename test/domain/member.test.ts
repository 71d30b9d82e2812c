import { expect, test } from 'vitest';
import type { Permission, Role } from '#domain/member.ts';
import { may } from '#domain/member.ts';
import { alice } from './cast.ts';

const TABLE: Record<Role, Record<Permission, boolean>> = {
  viewer: { view: true, create: false, vote: false },
  initiator: { view: true, create: true, vote: false },
  signer: { view: true, create: true, vote: true },
  admin: { view: true, create: false, vote: false },
};

for (const [role, permissions] of Object.entries(TABLE)) {
  for (const [permission, allowed] of Object.entries(permissions)) {
    test(`a ${role} ${allowed ? 'may' : 'may not'} ${permission}`, () => {
      expect(may({ userId: alice.userId, roles: [role as Role] }, permission as Permission)).toBe(allowed);
    });
  }
}

test('somebody who is no member may do nothing, and neither may a member without a role', () => {
  for (const permission of ['view', 'create', 'vote'] as const) {
    expect(may(null, permission)).toBe(false);
    expect(may({ userId: alice.userId, roles: [] }, permission)).toBe(false);
  }
});
