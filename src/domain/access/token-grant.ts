import { contains } from '#domain/access/client-address.ts';
import type { VaultId } from '#domain/id.ts';

/**
 * What a token may do for its owner, who may do everything that the roles allow:
 *
 * - `read` reads;
 * - `create` creates, cancels and hides transactions, and changes what surrounds them;
 * - `approve` approves and rejects;
 * - `manage-tokens` manages other tokens of the owner.
 */
export const TOKEN_SCOPES = ['read', 'create', 'approve', 'manage-tokens'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** What a token gives access to, from where. */
export interface TokenGrant {
  readonly scopes: readonly TokenScope[];
  /** The vaults that the token reaches; null for all vaults of the owner. */
  readonly vaultIds: readonly VaultId[] | null;
  /** The networks in CIDR notation from which the token is accepted; null for any address. */
  readonly networks: readonly string[] | null;
}

/** The grant of a token that is created without restrictions. */
export const WHOLE_GRANT: TokenGrant = { scopes: TOKEN_SCOPES, vaultIds: null, networks: null };

/**
 * Reports whether an operator may add a token with this grant to a service account that already has
 * credentials. It never approves and manages no token, so it adds nothing to a quorum.
 */
export function isAddedByOperator({ scopes }: TokenGrant): boolean {
  return scopes.every((scope) => scope === 'read' || scope === 'create');
}

/** Reports whether a grant allows all that another one allows. */
export function covers(grant: TokenGrant, other: TokenGrant): boolean {
  const { scopes, vaultIds, networks } = grant;
  return (
    other.scopes.every((scope) => scopes.includes(scope)) &&
    (vaultIds === null || (other.vaultIds?.every((id) => vaultIds.includes(id)) ?? false)) &&
    (networks === null || (other.networks?.every((network) => isFrom(networks, network)) ?? false))
  );
}

/** Reports whether a credential that is limited to these networks is accepted from an address. */
export function isAcceptedFrom({ networks }: Pick<TokenGrant, 'networks'>, address: string | null): boolean {
  return networks === null || (address !== null && isFrom(networks, address));
}

/** Reports whether a token reaches a vault. */
export function reaches({ vaultIds }: TokenGrant, vaultId: VaultId): boolean {
  return vaultIds === null || vaultIds.includes(vaultId);
}

function isFrom(networks: readonly string[], address: string): boolean {
  return networks.some((network) => contains(network, address));
}

const MAX_DAYS = 3650;

/**
 * Returns the longest life of a new or extended token in days, or null without a limit. Throws for
 * a setting that is no number of days.
 *
 * @param setting MAX_TOKEN_DAYS
 */
export function longestTokenDays(setting: string | undefined): number | null {
  if (setting === undefined || setting === '') return null;
  const days = /^[1-9][0-9]{0,3}$/.test(setting) ? Number.parseInt(setting, 10) : null;
  if (days === null || days > MAX_DAYS) throw new Error(`MAX_TOKEN_DAYS must be from 1 to ${MAX_DAYS}.`);
  return days;
}
