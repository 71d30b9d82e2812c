import type { Member, Role } from '#domain/member.ts';
import type { UserId, VaultId } from '#domain/id.ts';
import type { Policy, PolicyFault } from '#domain/policy.ts';
import { NO_PREVIOUS_POLICY, policyFault } from '#domain/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Vault, VaultConfiguration } from '#domain/vault.ts';
import { policyHash } from '#objects/new-transaction.ts';

export interface VaultFoundation {
  readonly id: VaultId;
  readonly configuration: VaultConfiguration;
  readonly members: readonly Member[];
  readonly threshold: number;
}

/** A new vault with policy version 1. Refuses what `policyFault` refuses. */
export function foundVault(foundation: VaultFoundation): Result<Vault, PolicyFault> {
  const { id, configuration, members, threshold } = foundation;
  const policy = { vaultId: id, version: 1, signers: signersOf(members), threshold, previousHash: NO_PREVIOUS_POLICY };
  const fault = policyFault(policy);
  return fault === null ? accepted({ id, configuration, members, policy, keys: [] }) : refused(fault);
}

/** The vault with this person in these roles; no roles takes the person out. Refuses what `policyFault` refuses. */
export function withMember(vault: Vault, userId: UserId, roles: readonly Role[]): Result<Vault, PolicyFault> {
  const others = vault.members.filter((member) => member.userId !== userId);
  const members = roles.length === 0 ? others : [...others, { userId, roles }];
  return withPolicy({ ...vault, members }, vault.policy.threshold);
}

/** The vault with another threshold. Refuses what `policyFault` refuses. */
export function withThreshold(vault: Vault, threshold: number): Result<Vault, PolicyFault> {
  return withPolicy(vault, threshold);
}

/** A next policy version only when signers or threshold really differ: viewers come and go without one. */
function withPolicy(vault: Vault, threshold: number): Result<Vault, PolicyFault> {
  const signers = signersOf(vault.members);
  const same =
    threshold === vault.policy.threshold &&
    signers.length === vault.policy.signers.length &&
    signers.every((signer, i) => signer === vault.policy.signers[i]);
  if (same) return accepted(vault);
  const policy: Policy = {
    vaultId: vault.id,
    version: vault.policy.version + 1,
    signers,
    threshold,
    previousHash: policyHash(vault.policy),
  };
  const fault = policyFault(policy);
  return fault === null ? accepted({ ...vault, policy }) : refused(fault);
}

function signersOf(members: readonly Member[]): readonly UserId[] {
  return members
    .filter((member) => member.roles.includes('signer'))
    .map((member) => member.userId)
    .toSorted((a, b) => (a < b ? -1 : 1));
}
