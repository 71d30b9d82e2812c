import type { KeyId, VaultId } from '#domain/id.ts';
import type { BitcoinAddressType, KeyScheme } from '#domain/asset/chain.ts';
import type { ExpiredAdoption } from '#domain/policy/mandate-renewal.ts';
import type { DisabledAccess } from '#domain/access/disabled-access.ts';
import type { Invitation } from '#domain/access/invitation.ts';
import type { Member } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { ADOPTION_PERIOD_MS } from '#domain/policy/policy-change.ts';
import { MAX_APPROVAL_LIFETIME_MS } from '#domain/transaction/intent.ts';

/** The operator's settings of a vault. */
export interface VaultConfiguration {
  readonly name: string;
  /** Spec part 2: whether a new transaction starts in DRAFT or SUBMITTED. */
  readonly initialState: 'DRAFT' | 'SUBMITTED';
  /** How long a transaction may stay undecided. */
  readonly decisionPeriodSeconds: number;
  /**
   * The maximum number of undecided transactions: one stolen token must not flood the vault with
   * them.
   */
  readonly mostPending: number;
  /** Canonical names of the chains that this vault uses. */
  readonly chains: readonly string[];
  /** Permanent; P2TR when absent. */
  readonly bitcoinAddressType?: BitcoinAddressType;
}

export const DEFAULT_DECISION_PERIOD_SECONDS = 7 * 24 * 60 * 60;
/** A mandate lives for the decision period and the time of its adoption. */
export const MAX_DECISION_PERIOD_SECONDS = (MAX_APPROVAL_LIFETIME_MS - ADOPTION_PERIOD_MS) / 1000;
export const DEFAULT_MAX_PENDING = 100;

/**
 * Returns how many of the undecided transactions one person may have created: half of them, rounded
 * up. One hostile member or one stolen token then leaves the other half to the others.
 */
export function maxOwnPending({ mostPending }: Pick<VaultConfiguration, 'mostPending'>): number {
  return Math.ceil(mostPending / 2);
}

/** A threshold key of a vault, and the addresses that are derived from it. */
export interface VaultKey {
  readonly keyId: KeyId;
  readonly scheme: KeyScheme;
  /** Hex of the group public key: 33 bytes, or 32 for Ed25519. */
  readonly publicKey: string;
  /**
   * Number of each co-signer to the hex of its public share, which identifies the sender of a wrong
   * signature share.
   */
  readonly publicShares: Readonly<Record<string, string>>;
  /** Chain name to address, in canonical spelling. */
  readonly addresses: Readonly<Record<string, string>>;
}

/**
 * A key that the co-signers have generated. It is used when every group of them that could sign has
 * proven that it can.
 */
export interface KeyCandidate extends Omit<VaultKey, 'addresses'> {
  /** Groups that have proven it, each as the numbers of its co-signers: `1+2`. */
  readonly provenBy: readonly string[];
}

/** A key refresh that is in progress. */
export interface KeyRefresh {
  readonly keyId: KeyId;
  readonly scheme: KeyScheme;
  /**
   * Identifies one request among all for the same key, so that a late report of a refresh that has
   * ended changes no later one.
   */
  readonly requestId: string;
  /**
   * What existed at the start and is replaced: the epoch of the shares, and the set-ups of pairs.
   * Null before the first check.
   */
  readonly begun: { readonly epoch: number; readonly setups: readonly string[] } | null;
  /**
   * Groups that have proven the new shares, each as the epoch and the numbers of its co-signers:
   * `2:1+3`.
   */
  readonly provenBy: readonly string[];
  /**
   * The epoch that co-signers are instructed to use. It is recorded before the first instruction.
   * Absent while no co-signer can have received one.
   */
  readonly activating?: number;
  /**
   * Co-signer number to the newest epoch that it was seen to use after an interrupted change.
   * Absent before the first one.
   */
  readonly brought?: Readonly<Record<string, number>>;
}

/**
 * Returns the newest epoch that a refresh has reached: the one that is activated, proven or
 * replaced. Null before its first check.
 */
export function epochReached({ begun, provenBy, activating }: KeyRefresh): number | null {
  if (begun === null) return null;
  const proven = provenBy.map((proof) => Number.parseInt(proof, 10));
  return Math.max(begun.epoch, activating ?? 0, ...proven);
}

export interface Vault {
  readonly id: VaultId;
  /** The operator's permanent name for it. It identifies a repeated request to create the vault. */
  readonly reference: string;
  readonly foundedAtMs: number;
  readonly configuration: VaultConfiguration;
  readonly members: readonly Member[];
  /** Of the members who have not accepted the vault. */
  readonly invitations: readonly Invitation[];
  readonly disabledAccess: readonly DisabledAccess[];
  /** User id to the newest act of an operator on the access of this user. */
  readonly accessVersions: Readonly<Record<string, number>>;
  readonly policy: Policy;
  readonly keys: readonly VaultKey[];
  /**
   * The co-signers that refused a policy for its expired mandate when they last received it.
   */
  readonly expiredAdoptions: readonly ExpiredAdoption[];
  /**
   * Co-signer number to the newest policy version that it reported. Absent ones reported none.
   */
  readonly adoptedVersions: Readonly<Record<string, number>>;
}

/** Returns the wallet of a vault on a chain, or null while its key is being generated. */
export function walletAddress(vault: Vault, chain: string): string | null {
  return vault.keys.find((key) => chain in key.addresses)?.addresses[chain] ?? null;
}
