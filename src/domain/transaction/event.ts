import type { DisabledAccess } from '#domain/access/disabled-access.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionId } from '#domain/id.ts';
import type { UnknownEndReason } from '#domain/transaction/job.ts';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Inclusion, ValuedInclusion, Attempt, UtxoParent, SendOutcome } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';

/**
 * Why a transaction failed permanently, as `stateReason`. The set is open to clients and closed
 * here.
 */
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
  | 'NONCE_ACCOUNT_MISSING'
  | 'REJECTED_BY_NODE'
  | 'NOT_AFTER_PASSED';

/**
 * Why no attempt at the current price follows, as `stateReason`: the price exceeds the approved fee
 * or the wallet's balance.
 */
export type PriceObstacle = 'FEE_ABOVE_CAP' | 'INSUFFICIENT_FUNDS';

/**
 * An event of a transaction after its creation. Members cause the events with an `actor`, and jobs
 * and timers cause the rest.
 */
/** The answer of an RPC node that refuses bytes which another one accepts. */
export interface Objection {
  readonly answer: string;
  /** The node requires a higher fee, and the wallet can offer one at the same nonce. */
  readonly isPrice: boolean;
}

export type TransactionEvent =
  | {
      readonly type: 'approve';
      readonly actor: Actor;
      readonly digest: string;
      readonly device: DeviceSignature | null;
    }
  | {
      readonly type: 'reject';
      readonly actor: Actor;
      readonly device: DeviceSignature | null;
      readonly reason?: string;
    }
  | { readonly type: 'cancel'; readonly actor: Actor }
  /**
   * Ends a transaction whose outcome no RPC node shows (`mayEndUnknown`). It ends for users, who
   * know that it may still be included.
   */
  | { readonly type: 'endUnknown'; readonly actor: Actor; readonly reason: UnknownEndReason }
  /** A member requests a higher fee, within what was approved. */
  | { readonly type: 'speedUp'; readonly actor: Actor }
  | { readonly type: 'setVisibility'; readonly actor: Actor; readonly visible: boolean }
  /** After a new policy or disabled access: approvals that count no more are removed. */
  | {
      readonly type: 'dropVotes';
      readonly policy: Policy;
      readonly disabledAccess: readonly DisabledAccess[];
    }
  | { readonly type: 'expire' }
  /** The unsigned bytes are chosen and stored before any co-signer receives them. */
  | {
      readonly type: 'prepare';
      readonly attempt: PreparedAttempt;
      /**
       * The signing digest of the unsigned bytes that these replace, at the same number; absent for
       * a further attempt.
       */
      readonly instead?: string;
    }
  /** Co-signers are about to start with these bytes. */
  | { readonly type: 'ask'; readonly signingDigest: string }
  /** The run that prepared these bytes reached no co-signer with them. */
  | { readonly type: 'askInVain'; readonly signingDigest: string; readonly run: string }
  /** Signing is impossible now. The job retries. */
  | { readonly type: 'delaySigning'; readonly reason: string }
  /** Signing failed permanently: no signature was released, and the nonce is free again. */
  | { readonly type: 'failSigning'; readonly reason: FailureReason; readonly detail: string | null }
  /**
   * As `failSigning`, but other transactions wait above its nonce: an attempt without effect uses
   * the nonce first.
   */
  | { readonly type: 'fillNonce'; readonly reason: FailureReason; readonly detail: string | null }
  /**
   * A member cancelled it before anything was signed, and no transaction waits above its nonce: it
   * ends, and the nonce is free again.
   */
  | { readonly type: 'cancelUnsigned' }
  /** For a message: there is nothing to broadcast. */
  | { readonly type: 'signMessage'; readonly signature: string }
  | { readonly type: 'sign'; readonly attempt: number; readonly raw: string; readonly hash: string }
  | {
      readonly type: 'send';
      readonly attempt: number;
      readonly outcome: SendOutcome;
      readonly answer: string | null;
      /** With `accepted`: the refusal of another RPC node. */
      readonly objection?: Objection;
      /** Set for bytes that were accepted before and are offered again. */
      readonly isRepeated?: true;
    }
  /**
   * The network refused the bytes permanently and never accepted any attempt. When others wait
   * above its nonce (`blocksOthers`), an attempt without effect uses the nonce. When another
   * payment would use other UTXOs (`keepsCoins`), the transaction is still watched: a server that
   * refused the bytes can still get them mined, and both payments would happen.
   */
  | {
      readonly type: 'refuseBroadcast';
      readonly attempt: number;
      readonly answer: string;
      readonly blocksOthers?: boolean;
      readonly keepsCoins?: boolean;
    }
  /**
   * No block includes the newest attempt at its price: an attempt with a higher fee replaces it.
   * With an `obstacle`, the transaction waits for a lower price or for a member.
   */
  | { readonly type: 'reprice'; readonly attempt: number; readonly obstacle: PriceObstacle | null }
  /**
   * A lower nonce of the wallet is unused and belongs to this transaction or to none; null when
   * there is no such nonce any more.
   */
  | { readonly type: 'waitForNonce'; readonly blocker: { readonly transactionId: TransactionId | null } | null }
  /**
   * No further attempt follows now: the fee is too high, or the co-signers' time is over. Earlier
   * attempts are still watched.
   */
  | { readonly type: 'abandonReplacement'; readonly reason: FailureReason }
  | {
      readonly type: 'include';
      readonly inclusion: ValuedInclusion;
      readonly confirmationsNeeded: number;
      readonly lookedFor?: LookedFor;
    }
  /**
   * No attempt is in the chain. The mempool may hold one, or a foreign transaction with a known
   * hash has taken the nonce permanently.
   */
  | {
      readonly type: 'miss';
      readonly inMempool: boolean;
      readonly nonceTaken: boolean;
      /** The hashes of the transactions that RPC nodes name with `nonceTaken`. */
      readonly takenBy?: readonly string[];
      /** Every one of them is a transaction of this vault. */
      readonly isTakenByOwn?: boolean;
      /** No block includes the newest attempt at its price. */
      readonly isTooCheap?: boolean;
      /** The nonce is used, and no RPC node shows by which transaction. */
      readonly isUnexplained?: boolean;
      /** RPC nodes contradict each other about whether the nonce is used. */
      readonly isUseDisputed?: boolean;
      /** No RPC node shows a UTXO that the attempts spend. */
      readonly isCoinUnknown?: boolean;
      /** Another RPC node that answers does not have it in its mempool. */
      readonly isWithheld?: boolean;
      /** No block after this one can include any attempt, as decimal text. */
      readonly liveUntil?: string;
      readonly lookedFor?: LookedFor;
    }
  /** No RPC node that answers shows any attempt, or none answers. */
  | { readonly type: 'unshown' }
  /** The chain no longer has the final block of the transaction. */
  | { readonly type: 'gone' }
  /** RPC nodes state the contents of the final inclusion again. */
  | { readonly type: 'correct'; readonly inclusion: Inclusion }
  /** The time limit of the intent may have passed. */
  | { readonly type: 'endByTime' }
  /** A delivery names a hash of a failed transaction: it is polled again. */
  | { readonly type: 'watch' }
  /** The newest attempt can no longer be included, and nothing else has replaced it. */
  | { readonly type: 'lapse'; readonly attempt: number }
  /**
   * The nonce allocator knows the outcome. `keepsCoins` is what the record requested for its UTXOs
   * at that time.
   */
  | { readonly type: 'settle'; readonly keepsCoins?: boolean };

/** The number of signed attempts that the poll covered; all attempts when absent. */
type LookedFor = number;

export type EventType = TransactionEvent['type'];
export type EventOf<T extends EventType> = Extract<TransactionEvent, { type: T }>;

/** Unsigned bytes at a nonce, as the rules of a chain compose them. */
export interface ComposedBytes {
  readonly nonce: string;
  readonly payload: string;
  readonly signingDigest: string;
  readonly maxFee: Amount;
  /** The last block that can include them; null for bytes without a time limit. */
  readonly validUntil: string | null;
  /**
   * The newest block when the client read the data that the bytes depend on; absent when the bytes
   * name it.
   */
  readonly anchoredAt?: string;
  /** See `Attempt.coinParents`. */
  readonly coinParents?: readonly UtxoParent[];
}

export interface PreparedAttempt extends ComposedBytes {
  readonly purpose: AttemptPurpose;
  readonly preparedBy?: string;
}

export function unsignedAttempt(prepared: PreparedAttempt, number: number, nowMs: number): Attempt {
  return { ...prepared, number, preparedAtMs: nowMs, signed: null, sent: null, refusal: null };
}
