import type { KeyId, VaultId } from '#domain/id.ts';
import type { BitcoinAddressType, KeyScheme } from '#domain/asset/chain.ts';
import type { ExpiredAdoption } from '#domain/policy/mandate-renewal.ts';
import type { Member } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';

/** What an operator chooses for a vault. */
export interface VaultConfiguration {
  readonly name: string;
  /** Spec part 2: whether a new transaction starts in DRAFT or SUBMITTED. */
  readonly initialState: 'DRAFT' | 'SUBMITTED';
  /** How long a transaction may stay undecided. */
  readonly decisionPeriodSeconds: number;
  /** Undecided transactions at once: one stolen token must not bury the vault in proposals. */
  readonly mostPending: number;
  /** Canonical names of the chains that this vault uses. */
  readonly chains: readonly string[];
  /** How many of the co-signers sign together. */
  readonly signingThreshold: number;
  /** For good: P2TR when absent. */
  readonly bitcoinAddressType?: BitcoinAddressType;
}

export const DEFAULT_DECISION_PERIOD_SECONDS = 7 * 24 * 60 * 60;
export const DEFAULT_MAX_PENDING = 100;

/** A threshold key of a vault, and the addresses that follow from it. */
export interface VaultKey {
  readonly keyId: KeyId;
  readonly scheme: KeyScheme;
  /** Hex of the group public key: 33 bytes, or 32 of Ed25519. */
  readonly publicKey: string;
  /** Number of each co-signer to the hex of its public share: tells who sent a wrong part of a signature. */
  readonly publicShares: Readonly<Record<string, string>>;
  /** Chain name to address, in canonical spelling. */
  readonly addresses: Readonly<Record<string, string>>;
  /**
   * Chain name to the address of an earlier derivation, on which nothing is signed any more: of P2WPKH on test networks, where
   * the key of mainnet was used once. Absent where there is none.
   */
  readonly formerAddresses?: Readonly<Record<string, string>>;
}

/** A key that the co-signers have made, and that is given out when every group of them that could sign has proven that it can. */
export interface KeyCandidate extends Omit<VaultKey, 'addresses' | 'formerAddresses'> {
  /** Groups that have, each as the numbers of its nodes: `1+2`. */
  readonly provenBy: readonly string[];
}

/** New shares of a key on their way to its co-signers. */
export interface KeyRefresh {
  readonly keyId: KeyId;
  readonly scheme: KeyScheme;
  /** What there was when it began, and is replaced: the epoch of the shares, and the set-ups of pairs. Null before the first look. */
  readonly begun: { readonly epoch: number; readonly setups: readonly string[] } | null;
  /** Groups that have proven the new shares, each as the epoch and the numbers of its nodes: `2:1+3`. */
  readonly provenBy: readonly string[];
}

export interface Vault {
  readonly id: VaultId;
  /** The operator's own name for it, for good: by it the same founding is known again. */
  readonly reference: string;
  readonly foundedAtMs: number;
  readonly configuration: VaultConfiguration;
  readonly members: readonly Member[];
  readonly policy: Policy;
  readonly keys: readonly VaultKey[];
  /**
   * The co-signers that refused a policy for its expired mandate when they were shown it last. Absent
   * where none does.
   */
  readonly expiredAdoptions?: readonly ExpiredAdoption[];
}

/** The wallet of a vault on a chain, or null while its key is being generated. */
export function walletAddress(vault: Vault, chain: string): string | null {
  return vault.keys.find((key) => chain in key.addresses)?.addresses[chain] ?? null;
}
