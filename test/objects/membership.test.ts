import { expect, test } from 'vitest';
import type { Role } from '#domain/member.ts';
import type { Result } from '#domain/result.ts';
import type { Vault } from '#domain/vault.ts';
import { foundVault, withMember, withThreshold } from '#objects/membership.ts';
import { policyHash } from '#objects/new-transaction.ts';
import { alice, bob, carol, mallory, vaultId } from '../domain/cast.ts';

const configuration = {
  name: 'Treasury',
  initialState: 'SUBMITTED',
  decisionPeriodSeconds: 60,
  mostPending: 10,
  chains: ['anvil'],
  signingThreshold: 2,
} as const;

const signer: readonly Role[] = ['signer'];
const members = [carol, alice, bob].map(({ userId }) => ({ userId, roles: signer }));

function value(result: Result<Vault, string>): Vault {
  if (!result.ok) throw new Error(result.refusal);
  return result.value;
}

const vault = value(foundVault({ id: vaultId, configuration, members, threshold: 2 }));

test('a new vault has policy version 1 with its signers in order', () => {
  expect(vault.policy).toMatchObject({
    version: 1,
    threshold: 2,
    signers: [alice, bob, carol].map((one) => one.userId),
  });
});

test('a viewer comes and goes without a new policy', () => {
  const withViewer = value(withMember(vault, mallory.userId, ['viewer']));
  expect(withViewer.members).toHaveLength(4);
  expect(withViewer.policy).toEqual(vault.policy);
  expect(value(withMember(withViewer, mallory.userId, [])).members).toHaveLength(3);
});

test('another signer or threshold is a new version that names the one before', () => {
  const four = value(withMember(vault, mallory.userId, ['signer']));
  expect(four.policy).toMatchObject({ version: 2, previousHash: policyHash(vault.policy) });
  const three = value(withThreshold(four, 3));
  expect(three.policy).toMatchObject({ version: 3, threshold: 3, previousHash: policyHash(four.policy) });
});

test('a vault can not lose so many signers that nobody can meet its threshold', () => {
  const two = value(withMember(vault, carol.userId, ['viewer']));
  expect(two.policy.signers).toHaveLength(2);
  expect(withMember(two, bob.userId, [])).toEqual({ ok: false, refusal: 'threshold-out-of-range' });
  expect(withThreshold(vault, 4)).toEqual({ ok: false, refusal: 'threshold-out-of-range' });
});
