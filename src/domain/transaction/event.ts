import type { Amount } from '#domain/asset/amount.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionId } from '#domain/id.ts';
import type { UnknownEndReason } from '#domain/transaction/job.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Actor, ValuedInclusion, Attempt, UtxoParent, SendOutcome } from '#domain/transaction/transaction.ts';

/** Why a transaction failed for good, as `stateReason`. An open set to clients, a closed one here. */
export type FailureReason =
  | 'INSUFFICIENT_FUNDS'
  | 'TOO_MANY_COINS'
  | 'NOTHING_TO_CONSOLIDATE'
  | 'SIMULATION_REVERTED'
  | 'ALLOWANCE_NOT_ZERO'
  | 'RECIPIENT_REFUSED'
  | 'TOKEN_REFUSED'
  | 'FEE_CAP_EXCEEDED'
  | 'SPEED_UP_NEEDED'
  | 'PARENT_NOT_WAITING'
  | 'SIGNING_TIMEOUT'
  | 'SIGNERS_REFUSED'
  | 'WALLET_REPLACED'
  | 'REJECTED_BY_NODE'
  | 'NOT_AFTER_PASSED';

/** Why no attempt at the price of now follows, as `stateReason`: the price is above what was approved, or above what the wallet has. */
export type PriceObstacle = 'FEE_ABOVE_CAP' | 'INSUFFICIENT_FUNDS';

/** What can happen to a transaction after its creation. People cause the first five, machines and time the rest. */
export type TransactionEvent =
  | {
      readonly type: 'approve';
      readonly actor: Actor;
      readonly digest: string;
      readonly device: DeviceSignature | null;
    }
  | { readonly type: 'reject'; readonly actor: Actor }
  | { readonly type: 'cancel'; readonly actor: Actor }
  /** Of one whose end no RPC node shows (`mayEndUnknown`): it ends for people, who know that it may be included all the same. */
  | { readonly type: 'endUnknown'; readonly actor: Actor; readonly reason: UnknownEndReason }
  /** Whoever waits for it wants to pay more, within what was approved. */
  | { readonly type: 'speedUp'; readonly actor: Actor }
  | { readonly type: 'setVisibility'; readonly actor: Actor; readonly visible: boolean }
  /** Under another policy: votes that do not count any more go. */
  | { readonly type: 'dropVotes'; readonly policy: Policy }
  | { readonly type: 'expire' }
  /** The unsigned bytes are chosen; stored before any co-signer sees them. */
  | {
      readonly type: 'prepare';
      readonly attempt: PreparedAttempt;
      /** The signing digest of the unsigned bytes in whose place these come, at the same number; absent for a further attempt. */
      readonly instead?: string;
    }
  /** Co-signers are about to begin with these bytes. */
  | { readonly type: 'ask'; readonly signingDigest: string }
  /** The run that has prepared these bytes has reached no co-signer with them. */
  | { readonly type: 'askInVain'; readonly signingDigest: string; readonly run: string }
  /** Nothing can be signed now; the job tries again. */
  | { readonly type: 'delaySigning'; readonly reason: string }
  /** Nothing will ever be signed: no signature was released, and the nonce is free again. */
  | { readonly type: 'failSigning'; readonly reason: FailureReason; readonly detail: string | null }
  /** The same, but others wait above its nonce: an attempt that does nothing uses it up first. */
  | { readonly type: 'fillNonce'; readonly reason: FailureReason; readonly detail: string | null }
  /** Of a message: there is nothing to broadcast. */
  | { readonly type: 'signMessage'; readonly signature: string }
  | { readonly type: 'sign'; readonly attempt: number; readonly raw: string; readonly hash: string }
  | { readonly type: 'send'; readonly attempt: number; readonly outcome: SendOutcome; readonly answer: string | null }
  /**
   * The network refused the bytes for good and never took any attempt. Where others wait above its nonce (`blocksOthers`), an
   * attempt that does nothing uses it up. Where another payment would have other coins (`keepsCoins`), it is watched on: a server that
   * refused the bytes can still have them mined, and both would be paid.
   */
  | {
      readonly type: 'refuseBroadcast';
      readonly attempt: number;
      readonly answer: string;
      readonly blocksOthers?: boolean;
      readonly keepsCoins?: boolean;
    }
  /**
   * No block takes the newest attempt for its price: one that pays more takes its place. With an `obstacle` it waits for a lower
   * price, or for a person.
   */
  | { readonly type: 'reprice'; readonly attempt: number; readonly obstacle: PriceObstacle | null }
  /** A lower nonce of the wallet is unused, and this transaction owns it or none does; or, with null, there is none any more. */
  | { readonly type: 'waitForNonce'; readonly blocker: { readonly transactionId: TransactionId | null } | null }
  /** No further attempt comes now: too dear, or the co-signers' time is over. Earlier ones are still watched. */
  | { readonly type: 'abandonReplacement'; readonly reason: FailureReason }
  | {
      readonly type: 'include';
      readonly inclusion: ValuedInclusion;
      readonly confirmationsNeeded: number;
      readonly lookedFor?: LookedFor;
    }
  /** No attempt is in the chain: the mempool may hold it, or a transaction that is none of them, and has a name, has taken the nonce for good. */
  | {
      readonly type: 'miss';
      readonly inMempool: boolean;
      readonly nonceTaken: boolean;
      /** No block takes the newest attempt for its price. */
      readonly isTooCheap?: boolean;
      /** The nonce is used, and no node shows by what. */
      readonly isUnexplained?: boolean;
      /** No node shows a coin that the attempts spend. */
      readonly isCoinUnknown?: boolean;
      readonly lookedFor?: LookedFor;
    }
  /** The time of its intent may be over. */
  | { readonly type: 'endByTime' }
  /** A delivery names one of the hashes of what has failed: it is looked for again. */
  | { readonly type: 'watch' }
  /** The newest attempt can not be included any more, and nothing else has taken its place. */
  | { readonly type: 'lapse'; readonly attempt: number }
  /** The nonce allocator knows how it ended; what it keeps of its coins is what the record asked for then. */
  | { readonly type: 'settle'; readonly keepsCoins?: boolean };

/** How many signed attempts were looked for; all that there are when absent. */
type LookedFor = number;

export type EventType = TransactionEvent['type'];
export type EventOf<T extends EventType> = Extract<TransactionEvent, { type: T }>;

/** Unsigned bytes at a nonce, as a chain's adapter composes them. */
export interface ComposedBytes {
  readonly nonce: string;
  readonly payload: string;
  readonly signingDigest: string;
  readonly maxFee: Amount;
  /** The last block that can hold them; null for bytes that wait as long as it takes. */
  readonly validUntil: string | null;
  /** The newest block when what they hang on was read; absent where the bytes say it. */
  readonly anchoredAt?: string;
  /** See `Attempt.coinParents`. */
  readonly coinParents?: readonly UtxoParent[];
}

export interface PreparedAttempt extends ComposedBytes {
  readonly purpose: AttemptPurpose;
  readonly preparedBy?: string;
}

export function unsignedAttempt(prepared: PreparedAttempt, number: number, nowMs: number): Attempt {
  return { ...prepared, number, preparedAtMs: nowMs, signed: null, sent: null };
}
