import { findChain } from '#chains/families/registry.ts';
import type { Role } from '#domain/access/member.ts';
import type { MemberRefusal } from '#domain/vault/membership.ts';
import { authorize, enter, withMember } from '#domain/vault/membership.ts';
import type { UserId } from '#domain/id.ts';
import { type VaultSpec, vaultFromSpec } from '#domain/vault/new-vault.ts';
import type { PolicyFault } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import { accepted, refused, type Result } from '#domain/result.ts';
import type { Actor, Operator } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { updateVault } from '#objects/vault/writes/update-vault.ts';
import type { Membership, VaultScope } from '#objects/vault/views.ts';
import { walletsOf, withChain } from '#objects/vault/wallets.ts';
import { writeFounding } from '#objects/vault/writes/founding-draft.ts';
import { writeNewVault } from '#objects/vault/writes/vault-writes.ts';

/** The commands of operators on the vault itself, and what is read of it. */

/**
 * Creates the vault, and in device mode the policy change with which its signers found it.
 * Idempotent for one reference. Refuses `number-taken` and `PolicyFault`s.
 */
export async function createVault(
  { storage, commits, chains, vault, replaceVault }: VaultContext,
  operator: Operator,
  { spec }: { readonly spec: VaultSpec },
): Promise<Result<Vault, PolicyFault | 'number-taken'>> {
  const known = vault();
  if (known !== null) return known.reference === spec.reference ? accepted(known) : refused('number-taken');
  const created = vaultFromSpec(spec);
  if (!created.ok) return created;
  const write = () => {
    writeNewVault(storage, created.value, { chains, operator });
    writeFounding(storage, created.value);
  };
  await commits.run(write, () => replaceVault(created.value));
  return created;
}

/**
 * Sets the roles of a user, or removes the user when there are none. Idempotent. Null without a
 * vault.
 */
export async function putMember(
  context: VaultContext,
  operator: Operator,
  { userId, roles }: { readonly userId: UserId; readonly roles: readonly Role[] },
): Promise<Result<Vault, MemberRefusal> | null> {
  const vault = context.vault();
  const changed = vault === null ? null : withMember(vault, userId, roles);
  const line = { action: 'member', detail: JSON.stringify({ userId, roles }), actor: operator };
  if (changed?.ok === true && changed.value !== vault) await updateVault(context, changed.value, line);
  return changed;
}

/** Adds a wallet on a chain. Idempotent. Null when the vault or the chain does not exist. */
export async function enableChain(
  context: VaultContext,
  operator: Operator,
  { name }: { readonly name: string },
): Promise<Vault | null> {
  const [vault, chain] = [context.vault(), findChain(context.chains, name)];
  if (vault === null || chain === null) return null;
  const after = withChain(vault, chain);
  if (after !== vault) await updateVault(context, after, { action: 'chain', detail: chain.name, actor: operator });
  return after;
}

/** Requeues the whole read model after its reset or loss. Null when the vault does not exist. */
export async function requeueProjection(
  { storage, commits, vault }: VaultContext,
  _operator: Operator,
): Promise<ReturnType<VaultStorage['requeueProjection']> | null> {
  return vault() === null ? null : commits.run(() => storage.requeueProjection(Date.now()));
}

/** Returns the vault after updating the directory, which drops activity on unknown addresses. */
export async function describeVault({ vault, flush }: VaultContext): Promise<Vault | null> {
  const current = vault();
  if (current !== null) await flush();
  return current;
}

/** What a vault shows of itself to a member who may not have accepted it. Refuses `forbidden`. */
export function membership(context: VaultContext, actor: Actor): Result<Membership, Refusal> {
  const entered = enter(context.vault(), actor);
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const { policy, configuration } = vault;
  const counts = context.storage.pending;
  const invitation = vault.invitations.find(({ userId }) => userId === viewer.userId) ?? null;
  return accepted({
    policy,
    viewer,
    invitation,
    configuration,
    wallets: invitation === null ? walletsOf(vault) : [],
    pending: { all: counts.all(), own: counts.createdBy(viewer.userId) },
  });
}

/** Completes the projection before a list is read from D1. Refuses `forbidden`. */
export async function projectedScope(context: VaultContext, actor: Actor): Promise<Result<VaultScope, Refusal>> {
  const found = authorize(context.vault(), actor, 'view');
  if (!found.ok) return found;
  await context.flush();
  const { vault, viewer } = found.value;
  return accepted({ policy: vault.policy, viewer });
}
