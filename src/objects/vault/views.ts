import type { Activity, ActivityBlock } from '#domain/activity/activity.ts';
import type { Chain, KeyScheme } from '#domain/asset/chain.ts';
import type { AssetAmount } from '#domain/transaction/exposure.ts';
import type { NeededRenewal } from '#domain/policy/mandate-renewal.ts';
import type { Member } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy, PolicyChange } from '#domain/policy/policy-change.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { KeyId, TransactionId, VaultId } from '#domain/id.ts';
import type { KeyCandidate, KeyRefresh, Vault, VaultKey } from '#domain/vault.ts';
import type { Wallet } from '#objects/vault/wallets.ts';

/** A transaction with what its reader needs to understand it: the policy of now and the reader's own roles. */
export interface TransactionView {
  readonly transaction: Transaction;
  readonly policy: Policy;
  readonly viewer: Member;
}

/** What others did, with what its reader needs to understand it. */
export interface ActivityView {
  readonly activity: Activity;
  readonly policy: Policy;
  readonly viewer: Member;
}

/** What a signer is asked to approve, and the keys of the vault: one of them would sign it. */
export interface ChallengeView extends TransactionView {
  readonly keys: readonly VaultKey[];
}

export function versionOf(view: TransactionView | ActivityView): number {
  return 'activity' in view ? view.activity.version : view.transaction.version;
}

/** What a consumer needs to look at a chain again. */
export interface FollowWork {
  readonly chain: Chain;
  readonly hash: string;
  /** Where it was found before; null while it waits to be mined. */
  readonly block: ActivityBlock | null;
  readonly wallet: string;
  /** Should it be in a block. */
  readonly needsValuation: boolean;
}

export interface CreationView {
  readonly view: TransactionView;
  /** True when an Idempotency-Key has made it before. */
  readonly replayed: boolean;
}

/** A change of the policy with what its reader needs to understand it. */
export interface PolicyChangeView {
  readonly change: PolicyChange;
  /** The policy in force. */
  readonly policy: Policy;
  /** The policy whose quorum decides: the one in force, or for a renewal the one before the version that it renews. */
  readonly decider: Policy;
  /** Null: an operator. */
  readonly viewer: Member | null;
}

/** The same with the keys of the vault, whose co-signers state what they have in force. */
export interface PolicyChangeInFull extends PolicyChangeView {
  readonly keys: readonly VaultKey[];
}

/** The policy in force, and how much of its limits is left. */
export interface PolicyView {
  readonly policy: Policy;
  /** One for each limit, in its order; in the asset's smallest unit. */
  readonly spent: readonly string[];
  readonly renewalsNeeded: readonly NeededRenewal[];
  readonly keys: readonly VaultKey[];
}

export interface ApprovalOutcome {
  readonly view: TransactionView;
  /** False when this voice was already counted. */
  readonly changed: boolean;
}

export interface VaultScope {
  readonly policy: Policy;
  readonly viewer: Member;
  /** Addresses on which nothing is signed any more. The directory lists them among the others. */
  readonly formerWallets: readonly Wallet[];
}

/** What a consumer needs for a job; null when the job is not outstanding (any more). */
export interface TransactionWork {
  readonly transaction: Transaction;
  readonly chain: Chain;
  readonly key: VaultKey;
  /** Every version, in order: a co-signer that was away catches up. */
  readonly policies: readonly AdoptedPolicy[];
  readonly signingThreshold: number;
}

/** A transaction that is under way, by the nonce of its attempts; null before the first one. */
export interface HeldNonceRecord {
  readonly transactionId: TransactionId;
  readonly nonce: string | null;
  /** What its attempts take at most, of each asset. */
  readonly amounts: readonly AssetAmount[];
  /** The block that holds it, or null. */
  readonly includedIn: string | null;
  /** One RPC node alone states that this block is final. */
  readonly isFinalForOneNode: boolean;
}

/** A key that gets new shares. */
export interface RefreshWork extends Pick<TransactionWork, 'key' | 'policies' | 'signingThreshold'> {
  readonly vaultId: VaultId;
  /** As far as it has come. */
  readonly refresh: KeyRefresh;
  /** Every key that waits for new shares, this one first. */
  readonly underWay: readonly KeyId[];
}

/** A policy that the co-signers of these keys are shown. */
export interface AdoptionWork extends Pick<TransactionWork, 'policies'> {
  readonly vaultId: VaultId;
  readonly keys: readonly VaultKey[];
}

export interface KeyWork {
  readonly vault: Vault;
  /** Of the key that it lacks. */
  readonly scheme: KeyScheme;
  readonly policies: readonly AdoptedPolicy[];
  /** As far as it has come; null while there is nothing of it. */
  readonly candidate: KeyCandidate | null;
}
