import type { Chain } from '#domain/chain.ts';
import type { Member } from '#domain/member.ts';
import type { Policy } from '#domain/policy.ts';
import type { Transaction } from '#domain/transaction.ts';
import type { Vault, VaultKey } from '#domain/vault.ts';

/** A transaction with what its reader needs to understand it: the policy of now and the reader's own roles. */
export interface TransactionView {
  readonly transaction: Transaction;
  readonly policy: Policy;
  readonly viewer: Member;
}

export interface VoteOutcome {
  readonly view: TransactionView;
  /** False when this voice was already counted. */
  readonly changed: boolean;
}

export interface VaultScope {
  readonly policy: Policy;
  readonly viewer: Member;
}

/** What a consumer needs for a job; null when the job is not outstanding (any more). */
export interface TransactionWork {
  readonly transaction: Transaction;
  readonly chain: Chain;
  readonly key: VaultKey;
  /** Every version, in order: a co-signer that was away catches up. */
  readonly policies: readonly Policy[];
  readonly signingThreshold: number;
}

export interface KeyWork {
  readonly vault: Vault;
  readonly chains: readonly Chain[];
  readonly policies: readonly Policy[];
}
