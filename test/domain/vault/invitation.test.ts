import { expect, test } from 'vitest';
import { isInvited } from '#domain/access/invitation.ts';
import { authorize, withAnswer, withMember, withPolicy } from '#domain/vault/membership.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { alice, bob, carol, mallory } from '../cast.ts';
import { newTreasury, treasury } from './treasury.ts';

/** Covers who is invited to a vault, and what ends an invitation. */

const invited = ({ invitations }: Vault) =>
  [alice, bob, carol, mallory].filter(({ userId }) => isInvited(invitations, userId));

test('every member of a new vault is invited, and joins alone', () => {
  expect(invited(newTreasury)).toEqual([alice, bob, carol]);
  const joined = withAnswer(newTreasury, bob, 'accept');
  expect(joined.ok && invited(joined.value)).toEqual([alice, carol]);
  expect(authorize(newTreasury, bob, 'view')).toEqual({ ok: false, refusal: { code: 'vault-not-accepted' } });
  expect(joined.ok && authorize(joined.value, bob, 'decide').ok).toBe(true);
});

test('other roles of a member leave the membership as it is, and a member who returns is invited again', () => {
  const viewing = withMember(treasury, mallory.userId, ['viewer']);
  const joined = withAnswer(viewing.ok ? viewing.value : null, mallory, 'accept');
  if (!joined.ok) throw new Error(joined.refusal.code);
  const as = (vault: Vault, roles: readonly ('viewer' | 'admin')[]) => {
    const changed = withMember(vault, mallory.userId, roles);
    if (!changed.ok) throw new Error(changed.refusal);
    return changed.value;
  };
  expect(invited(as(joined.value, ['admin']))).toEqual([]);
  expect(invited(as(as(joined.value, []), ['viewer']))).toEqual([mallory]);
  expect(as(viewing.ok ? viewing.value : joined.value, []).invitations).toEqual([]);
});

test('a policy change invites its new signers, and ends the invitation of a removed one', () => {
  const { policy } = newTreasury;
  const changed = withPolicy(newTreasury, { ...policy, signers: [alice.userId, bob.userId, mallory.userId] });
  expect(invited(changed)).toEqual([alice, bob, mallory]);
  expect(changed.invitations).toHaveLength(3);
});
