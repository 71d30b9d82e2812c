/**
 * What a service key opens of the internal interface. Each scope has what a thief of a key with it
 * should not get besides:
 *
 * - `status` reads the state of the service, and nothing of a person or of one vault;
 * - `people` creates, disables and enables users, and issues, resets and ends their credentials;
 * - `vaults` creates, reads and changes vaults, and refreshes their keys;
 * - `recovery` exports recovery packages.
 */
export const SERVICE_SCOPES = ['status', 'people', 'vaults', 'recovery'] as const;
export type ServiceScope = (typeof SERVICE_SCOPES)[number];

/** A service key as the operator has configured it. */
export interface ServiceKey {
  /** SHA-256 of the key, in hex. */
  readonly hash: string;
  readonly scopes: readonly ServiceScope[];
  /** The networks in CIDR notation from which the key is accepted; null for any address. */
  readonly networks: readonly string[] | null;
}
