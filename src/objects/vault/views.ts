import type { Balance } from '#domain/asset/balance.ts';
import type { EarlierTransactions } from '#objects/vault/tables/recipient-table.ts';
import type { ChainAsset } from '#objects/vault/tables/balance-table.ts';
import type { Activity, ActivityBlock } from '#domain/activity/activity.ts';
import type { Chain, KeyScheme } from '#domain/asset/chain.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { Founding, NeededRenewal } from '#domain/policy/mandate-renewal.ts';
import type { Invitation } from '#domain/access/invitation.ts';
import type { Member } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import type { KeyId, TransactionId } from '#domain/id.ts';
import type { OutboxRow } from '#objects/outbox.ts';
import type { TransactionJob } from '#domain/transaction/job.ts';
import type { KeyCandidate, KeyRefresh, Vault, VaultConfiguration, VaultKey } from '#domain/vault/vault.ts';
import type { Wallet } from '#objects/vault/wallets.ts';

/** What the sweep learns of a vault that it wakes. */
export interface WokenVault {
  /** The size of the object's database. */
  readonly bytes: number;
  /** The chains on which the vault has money. */
  readonly fundedChains: readonly string[];
  /** The origins of the passkeys in the policy in force, each one once. */
  readonly passkeyOrigins: readonly string[];
}

/**
 * A transaction with the context for its reader: the policy in force and the reader's own roles.
 */
export interface TransactionView {
  readonly transaction: Transaction;
  readonly policy: Policy;
  readonly viewer: Member;
}

/** An activity with the context for its reader. */
export interface ActivityView {
  readonly activity: Activity;
  readonly policy: Policy;
  readonly viewer: Member;
}

/**
 * What a signer approves, the earlier transactions to the same recipient, and the keys of the
 * vault, one of which would sign it.
 */
export interface ChallengeView extends TransactionView {
  readonly earlier: EarlierTransactions | null;
  readonly keys: readonly VaultKey[];
}

export function versionOf(view: TransactionView | ActivityView): number {
  return 'activity' in view ? view.activity.version : view.transaction.version;
}

/** What a consumer needs for another poll of a chain. */
export interface FollowWork {
  readonly chain: Chain;
  readonly hash: string;
  /** Its known block; null while it waits to be mined. */
  readonly block: ActivityBlock | null;
  readonly wallet: string;
  /** Whether a valuation is needed if it is in a block. */
  readonly needsValuation: boolean;
}

/** A vault as a member sees it who may not have accepted it. */
export interface Membership extends VaultScope {
  /** Null once the member has accepted the vault. */
  readonly invitation: Invitation | null;
  readonly configuration: VaultConfiguration;
  /** Those that have an address; none before the member has accepted the vault. */
  readonly wallets: readonly Wallet[];
  /** The number of undecided transactions, and of those that the member created. */
  readonly pending: { readonly all: number; readonly own: number };
}

export interface CreationView {
  readonly view: TransactionView;
  /** True when an Idempotency-Key has created it before. */
  readonly replayed: boolean;
}

/** A policy change with the context for its reader. */
export interface PolicyChangeView {
  readonly change: PolicyChange;
  /** The policy in force. */
  readonly policy: Policy;
  /**
   * The policy whose quorum decides: the one in force, or for a renewal the one before the version
   * that it renews.
   */
  readonly decider: Policy;
  /** Null for an operator. */
  readonly viewer: Member | null;
}

/** The same with the keys of the vault, whose co-signers state which policy they have in force. */
export interface PolicyChangeInFull extends PolicyChangeView {
  readonly keys: readonly VaultKey[];
}

/** The policy in force, and the spending that counts towards its limits. */
export interface PolicyView {
  readonly policy: Policy;
  /** One amount for each limit, in its order; in the asset's smallest unit. */
  readonly spent: readonly string[];
  readonly renewalsNeeded: readonly NeededRenewal[];
  /** Null when the vault is founded, and in token mode. */
  readonly founding: Founding | null;
  readonly keys: readonly VaultKey[];
}

export interface ApprovalOutcome {
  readonly view: TransactionView;
  /** False when this decision was already recorded. */
  readonly changed: boolean;
}

export interface VaultScope {
  readonly policy: Policy;
  readonly viewer: Member;
}

/** What a consumer needs for a job; null when the job is not pending (any more). */
export interface TransactionWork {
  readonly transaction: Transaction;
  readonly chain: Chain;
  readonly key: VaultKey;
  readonly adoption: AdoptionWork;
}

/** A transaction with what it waits for. */
export interface TransactionProgress {
  readonly transaction: Transaction;
  /** The job that its state requires; null for none. */
  readonly job: TransactionJob | null;
  /** The stored row of this job; null without one. */
  readonly queued: OutboxRow | null;
  /** The depth at which its chain ends it; null for a chain that is not known any more. */
  readonly confirmations: number | null;
}

/** A transaction in flight with the nonce of its attempts; null before the first one. */
export interface HeldNonceRecord {
  readonly transactionId: TransactionId;
  readonly nonce: string | null;
  /** The maximum spending of its attempts, for each asset. */
  readonly amounts: readonly AssetAmount[];
  /** The block that includes it, or null. */
  readonly includedIn: string | null;
  /** Only one RPC node reports this block as final. */
  readonly isFinalForOneNode: boolean;
  /** A member ended it although it may still be included; it spends nothing for the service. */
  readonly hasEnded: boolean;
  /** The unsigned bytes of its newest attempt when `isFinalForOneNode`, else null. */
  readonly payload: string | null;
}

/** A key refresh that is due. */
export interface RefreshWork extends Pick<TransactionWork, 'key' | 'adoption'> {
  /** The progress of the refresh. */
  readonly refresh: KeyRefresh;
  /** Every key that waits for a refresh, this one first. */
  readonly underWay: readonly KeyId[];
}

/** The policy in force, and which co-signers have which version of it. */
export interface AdoptionWork {
  readonly policy: Policy;
  readonly adoptedVersions: Readonly<Record<string, number>>;
}

export function adoptionOf({ policy, adoptedVersions }: Vault): AdoptionWork {
  return { policy, adoptedVersions };
}

export interface KeyWork {
  readonly vault: Vault;
  /** The scheme of the missing key. */
  readonly scheme: KeyScheme;
  /** Versions whose mandates have expired. Without a key no co-signer attests them. */
  readonly expiredVersions: readonly number[];
  /** The progress of the key; null before the first step. */
  readonly candidate: KeyCandidate | null;
}

/** Balances, and the rules of the policy in force, which name tokens. */
export interface BalancePage {
  readonly balances: readonly BalanceView[];
  readonly rules: Rules;
}

/** A balance with the amounts that are not final yet, in the asset's smallest unit. */
export interface BalanceView extends ChainAsset {
  readonly wallet: string;
  /** False when only hidden records have moved it: it is not compared with its chain either. */
  readonly visible: boolean;
  readonly balance: Balance;
  /** The chain's current amount, including blocks that are not final. */
  readonly current: bigint;
  /** The amount received in blocks that are not final. */
  readonly incoming: bigint;
  /** Sent in such blocks, or decided and in flight; fees only once they are paid. */
  readonly outgoing: bigint;
  /** The part of `outgoing` that was sent in such blocks, so `current` does not contain it. */
  readonly outgoingMined: bigint;
}
