import { expect, test } from 'vitest';
import { notificationOfChange, notificationOfEvent } from '#domain/activity/vault-notification.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { alice, bob, carol, policy } from '../cast.ts';

/** Covers who is notified of what, when the control of a vault changes. */

const before = { ...policy, version: 4, signers: [alice.userId, bob.userId, carol.userId], threshold: 2 };
const vault = {
  configuration: { name: 'Treasury' },
  members: [alice, bob].map(({ userId }) => ({ userId, roles: ['signer'] })),
  policy: before,
  invitations: [{ userId: bob.userId, isDeclined: false }],
} as unknown as Vault;
const change = (differences: object) =>
  ({
    state: 'PENDING',
    createdBy: alice,
    policy: { ...before, version: 5 },
    ...differences,
  }) as unknown as PolicyChange;

test.each([
  [{}, 'policy change proposed', 'Policy version 5.'],
  [{ state: 'EXPIRED' }, 'policy change expired', 'Policy version 5.'],
  [
    { policy: { ...before, version: 5, threshold: 1 } },
    'policy change proposed',
    'Policy version 5. 2 of 3 signers becomes 1 of 3.',
  ],
  [{ renewsVersion: 1, policy: before }, 'founding of the vault proposed', 'Policy version 4. Signers: 2 of 3.'],
  [{ renewsVersion: 4, policy: before }, 'renewal of a policy mandate proposed', 'Policy version 4. Signers: 2 of 3.'],
])('the change %j is called "%s: %s"', (differences, title, body) => {
  expect(notificationOfChange(change(differences), vault, before)).toMatchObject({
    title: `Treasury: ${title}`,
    body,
  });
});

test('a superseded change has no notification, because members are notified of the adopted one', () => {
  expect(notificationOfChange(change({ state: 'SUPERSEDED' }), vault, before)).toBeNull();
});

test('the creator of a proposal is notified of its end alone, and an invited signer of neither', () => {
  expect(notificationOfChange(change({}), vault, before)?.userIds).toEqual([carol.userId]);
  const ended = notificationOfChange(change({ state: 'ADOPTED' }), vault, before);
  expect(ended?.userIds).toEqual([alice.userId, carol.userId]);
});

test('a member whom a policy excludes is notified after leaving', () => {
  const excluding = { ...before, version: 5, rules: { ...before.rules, excludedMembers: [carol.userId] } };
  const adopted = change({ state: 'ADOPTED', policy: { ...excluding, signers: [alice.userId, bob.userId] } });
  expect(notificationOfChange(adopted, vault, { ...before, signers: [alice.userId, bob.userId] })?.userIds).toContain(
    carol.userId,
  );
});

test('an entry that concerns no control of the vault has no notification, whatever its name', () => {
  for (const action of ['chain', 'approve', 'toString', '__proto__']) {
    expect(notificationOfEvent({ action, userId: null, roles: null }, vault)).toBeNull();
  }
});
