/** The variables and secrets of one co-signer (deploy/cosigner.toml). Each deployment has its own of everything. */
export interface CosignerConfig {
  /** 1 to 5, as decimal text. */
  readonly NODE_INDEX: string;
  /** JSON: index to the public keys of every node, this one included. Pinned at deployment. */
  readonly PEERS: string;
  /** Hex of 32 bytes: the key that signs every request. Without one only a service binding reaches this node. */
  readonly COORDINATOR_KEY?: string;
  /** Hex of 32 bytes: the X25519 key that shares are sealed for, whose secret is on no machine. Without one no package is given out. */
  readonly RECOVERY_KEY?: string;
  /** Time in ISO 8601: a share that was made before it is not used. What was taken out of an old backup is worth nothing then. */
  readonly SHARES_SINCE?: string;
  /** JSON: CAIP-2 name to the largest fee of one transaction, in the smallest unit. Absent: the caps of the built-in chains. */
  readonly MAX_FEES?: string;
  /** Secret, hex of 32 bytes: both identity keys follow from it. */
  readonly IDENTITY_SECRET: string;
  /** Secret, JSON list of { id, secret }: the first seals, the others still open. */
  readonly KEY_ENCRYPTION_SECRETS: string;
}
