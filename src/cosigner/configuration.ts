/**
 * The variables and secrets of one co-signer (deploy/cosigner.toml). No two deployments share any
 * of them.
 */
export interface CosignerConfig {
  /** 1 to 5, as decimal text. */
  readonly NODE_INDEX: string;
  /** JSON: index to the public keys of every co-signer, this one included. Pinned at deployment. */
  readonly PEERS: string;
  /**
   * Hex of 32 bytes: the key that signs every request. Without it only a service binding reaches
   * this co-signer.
   */
  readonly COORDINATOR_KEY?: string;
  /**
   * Hex of 32 bytes: the X25519 key that shares are sealed for. No machine of the service holds its
   * secret. Without it the co-signer exports no recovery package. A key of small order is refused.
   */
  readonly RECOVERY_KEY?: string;
  /** ISO 8601 time: older shares are not used, so a share stolen from an old backup is useless. */
  readonly SHARES_SINCE?: string;
  /**
   * JSON: CAIP-2 name to the largest fee of one transaction, in the smallest unit. When absent, the
   * caps of the built-in chains apply.
   */
  readonly MAX_FEES?: string;
  /** The share of requests with a log line, 0 to 1; only errors have one when it is empty. */
  readonly LOG_SHARE?: string;
  /** Secret, hex of 32 bytes: both identity keys are derived from it. */
  readonly IDENTITY_SECRET: string;
  /** Secret, JSON list of { id, secret }: the first one seals, and the others only open. */
  readonly KEY_ENCRYPTION_SECRETS: string;
}
