import type { Role } from '#domain/access/member.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import type { Result } from '#domain/result.ts';
import { vaultFromSpec } from '#domain/vault/new-vault.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { alice, bob, BY_TOKEN, carol, vaultId } from '../cast.ts';

const configuration = {
  name: 'Treasury',
  initialState: 'SUBMITTED',
  decisionPeriodSeconds: 60,
  mostPending: 10,
  chains: ['anvil'],
} as const;

/** The roles of a signer. */
const signer: readonly Role[] = ['signer'];
const members = [carol, alice, bob].map(({ userId }) => ({ userId, roles: signer }));

export function value(result: Result<Vault, string>): Vault {
  if (!result.ok) throw new Error(result.refusal);
  return result.value;
}

const creation = { id: vaultId, reference: 'treasury', foundedAtMs: 1, configuration, members };
/** A vault of three signers, two of whom approve; `treasury` is accepted by all of them. */
export const newTreasury = value(vaultFromSpec({ ...creation, threshold: 2, ...BY_TOKEN, rules: NO_RULES }));
export const treasury: Vault = { ...newTreasury, invitations: [] };
