import type { Amount } from '#domain/asset/amount.ts';
import type { Actor, Approval, Rejection } from '#domain/access/approval.ts';
import type { TokenLabel, UsdValue } from '#domain/asset/valuation.ts';
import type { Exposure } from '#domain/asset/exposure.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import type { AttemptPurpose, Intent } from '#domain/transaction/intent.ts';
import type { WalletMovements } from '#domain/asset/movement.ts';

/**
 * The ten public states. The set is closed, because a client fails at an unknown state. Finer
 * detail is in `stateReason`, an open text.
 */
export const TRANSACTION_STATES = [
  'DRAFT',
  'SUBMITTED',
  'SIGNING',
  'BROADCAST',
  'CONFIRMING',
  'SUCCEEDED',
  'FAILED',
  'REJECTED',
  'CANCELLED',
  'EXPIRED',
] as const;
export type TransactionState = (typeof TRANSACTION_STATES)[number];

/** Spec part 2. */
export const DISPLAY_TYPES = [
  'SENT',
  'RECEIVED',
  'TRADED',
  'BOUGHT',
  'SOLD',
  'MINTED',
  'CONTRACT_INTERACTION',
  'MESSAGE',
  'UNKNOWN',
] as const;
export type DisplayType = (typeof DISPLAY_TYPES)[number];

/** The requested urgency of the inclusion, which the fee pays for. Ours. */
export const SPEEDS = ['slow', 'normal', 'fast'] as const;
export type Speed = (typeof SPEEDS)[number];

/**
 * The RPC nodes' answer to signed bytes that they refuse, and the number of such answers in a row.
 */
export interface RpcRejection {
  readonly answer: string;
  readonly times: number;
}

/**
 * A transaction that created a UTXO of an attempt, or one of its ancestors, with the UTXOs that it
 * spends: `<transaction>:<number of the output>`.
 */
export interface UtxoParent {
  readonly txid: string;
  readonly spends: readonly string[];
}

/**
 * One set of bytes for the chain. Replacements are further attempts at the same account nonce,
 * never a new transaction.
 */
export interface Attempt {
  readonly number: number;
  readonly purpose: AttemptPurpose;
  readonly nonce: string;
  /**
   * The unsigned bytes, hex. They are stored before the request to the co-signers, so a second run
   * requests the same signature.
   */
  readonly payload: string;
  /** The chain's signing hash of `payload`, hex. */
  readonly signingDigest: string;
  /** The most that this attempt can cost, in the chain's smallest unit. */
  readonly maxFee: Amount;
  /** The last block that can include it; null for bytes without a time limit. */
  readonly validUntil: string | null;
  /**
   * The newest block of the chain when the data that the bytes depend on was read; absent when the
   * bytes name it.
   */
  readonly anchoredAt?: string;
  /** On UTXO chains, the parents of the UTXOs that are new in this attempt; absent elsewhere. */
  readonly coinParents?: readonly UtxoParent[];
  readonly preparedAtMs: number;
  /**
   * Random id of the run that prepared it: another run may have composed the same bytes. Absent
   * when it is not needed.
   */
  readonly preparedBy?: string;
  /**
   * False while it is certain that no co-signer has begun to sign these bytes; absent when that is
   * unknown.
   */
  readonly isAsked?: boolean;
  /** The signed bytes, hex, and their hash; stored before the first broadcast. */
  readonly signed: { readonly raw: string; readonly hash: string; readonly atMs: number } | null;
  /** The last answer of the network, and its time. */
  readonly sent: {
    readonly outcome: SendOutcome;
    readonly answer: string | null;
    readonly atMs: number;
    readonly times: number;
    /** A member requested the next attempt. */
    readonly isAsked?: true;
  } | null;
  /** The RPC nodes' refusal of these bytes since they last accepted them; null without one. */
  readonly refusal: RpcRejection | null;
}

/**
 * The result of a broadcast.
 *
 * - `unknown`: a time-out or a server error. The bytes may be broadcast, so only the same bytes may
 *   follow.
 * - `underpriced`: another attempt is needed.
 * - `lapsed`: another attempt is needed, because these bytes can no longer be included.
 * - `refused`: not accepted, and not followed by another attempt now. An earlier attempt or a
 *   foreign transaction may have the nonce, which the chain will show.
 * - `undecided`: every RPC node that answers refuses the bytes, and one that does not answer may
 *   have them.
 */
export const SEND_OUTCOMES = ['accepted', 'unknown', 'underpriced', 'lapsed', 'refused', 'undecided'] as const;
export type SendOutcome = (typeof SEND_OUTCOMES)[number];

/**
 * A second RPC node's verdict on an inclusion. `away`: it does not answer or lags behind.
 * `disagrees`: its answer differs.
 */
export type SecondNodeVerdict = 'agrees' | 'away' | 'disagrees';

/**
 * The proof of a token payment whose block has it with status 1 and whose token logged no transfer.
 *
 * - `moved`, `unmoved`: the balances of wallet and recipient before and after the block prove it.
 * - `unproven`: the balances are not readable, or RPC nodes contradict each other.
 */
export const TOKEN_TRANSFERS = ['moved', 'unmoved', 'unproven'] as const;
export type TokenTransfer = (typeof TOKEN_TRANSFERS)[number];

/** The block that includes an attempt, and the attempt's effect on the wallet besides its fee. */
export interface Inclusion extends WalletMovements {
  readonly hash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  /** The result that the chain states, for example `status` of a receipt. */
  readonly succeeded: boolean;
  /** Absent when the receipt or the token's log decides alone. */
  readonly tokenTransfer?: TokenTransfer;
  readonly feePaid: Amount;
  /**
   * Depth of the block, including itself. When two RPC nodes report the inclusion, the smaller
   * depth.
   */
  readonly confirmations: number;
  /**
   * No reorg can remove the block any more. Two RPC nodes confirm it when two or more are
   * configured.
   */
  readonly finalized: boolean;
  /** The chain's own error message of a failed transaction. */
  readonly failure: string | null;
  /** Absent when only one RPC node is configured. */
  readonly secondNode?: SecondNodeVerdict;
  /**
   * Only one of two or more configured RPC nodes reports the block as final; absent for all other
   * inclusions.
   */
  readonly isFinalForOneNode?: true;
}

/** An inclusion with its market value, by the prices at the first observation of this block. */
export interface ValuedInclusion extends Inclusion {
  readonly usdValue: UsdValue | null;
  /** The names and symbols that the moved tokens give themselves. */
  readonly tokens: readonly TokenLabel[];
}

export interface Transaction {
  readonly id: TransactionId;
  readonly vaultId: VaultId;
  /** Increases by one with every change. It guards the projection and identifies a revision. */
  readonly version: number;
  readonly state: TransactionState;
  readonly stateReason: string | null;
  readonly displayType: DisplayType;
  readonly direction: 'out';
  readonly visible: boolean;
  /** The choice of a member, which no rule overrides; null without a choice. */
  readonly visibilityChoice: boolean | null;
  /** Canonical name of the chain. The intent holds its CAIP-2. */
  readonly chain: string;
  readonly intent: Intent;
  /** Lower-case hex SHA-256 of the intent, which every decision names. */
  readonly digest: string;
  /** Derived from the intent at creation, for the rules of the policy. */
  readonly exposure: Exposure;
  /** The number that the policy required at creation. */
  readonly requiredApprovals: number;
  readonly approvals: readonly Approval[];
  /** The rejection that ended or stopped it. */
  readonly rejection: Rejection | null;
  /** The rejections before it. Absent: none. The policy says how many are required. */
  readonly openRejections?: readonly Rejection[];
  readonly attempts: readonly Attempt[];
  /**
   * A cancellation was requested while the transaction waits to be mined: every further attempt is
   * a cancellation.
   */
  readonly cancelling: boolean;
  /**
   * Why the intent will not be executed and an attempt without effect uses its nonce instead; null
   * without a reason.
   */
  readonly givenUp: string | null;
  /**
   * With WAITS_FOR_NONCE, the transaction that owns the lowest unused nonce; null when none owns
   * it, and without a wait.
   */
  readonly waitsFor: TransactionId | null;
  /** When it was last cancelled because its time limit passed; null otherwise. */
  readonly endedByTimeAtMs: number | null;
  readonly inclusion: ValuedInclusion | null;
  /**
   * Since when a FAILED transaction without an inclusion is still watched; null when it is not.
   */
  readonly watchedSinceMs: number | null;
  /** The signature of a message, in hex, in the form of the chain's wallets. */
  readonly signature: string | null;
  /**
   * The urgency that determines the offered fee, within the approved fee. It is not part of what is
   * approved.
   */
  readonly speed: Speed;
  /**
   * For a consolidation, the number of the smallest UTXOs that it joins. Absent otherwise; not part
   * of what is approved.
   */
  readonly joins?: number;
  /**
   * A consolidation also joins UTXOs that may carry more than satoshi; its note says so, and the
   * note is part of what is approved. Absent otherwise.
   */
  readonly includeMayCarryMore?: true;
  /**
   * True from the decision to sign until the wallet's nonce allocator knows the outcome: a
   * forgotten nonce blocks a wallet.
   */
  readonly nonceHeld: boolean;
  readonly externalId: string | null;
  readonly createdBy: Actor;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

const PENDING: ReadonlySet<TransactionState> = new Set(['DRAFT', 'SUBMITTED']);
const SPENDING: ReadonlySet<TransactionState> = new Set(['SIGNING', 'BROADCAST', 'CONFIRMING', 'SUCCEEDED']);
const FINAL: ReadonlySet<TransactionState> = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED']);

/**
 * Reports whether the state accepts approvals and rejections. A DRAFT does so too, because the API
 * has no submit call.
 */
export function isPending(state: TransactionState): boolean {
  return PENDING.has(state);
}

export function isFinal(state: TransactionState): boolean {
  return FINAL.has(state);
}

/** Reports whether the amount has left the wallet, or may still do so. */
export function spends(state: TransactionState): boolean {
  return SPENDING.has(state);
}

/** Reports whether the transaction is approved, and nothing of it was ever signed. */
export function isUnsigned(transaction: Pick<Transaction, 'state' | 'attempts'>): boolean {
  return transaction.state === 'SIGNING' && signedAttempts(transaction).length === 0;
}

/**
 * Reports whether signers can still stop an approved transaction: it is not signed yet, or it may
 * still be replaced.
 */
export function isStoppable(transaction: Pick<Transaction, 'state' | 'inclusion'>): boolean {
  return transaction.state === 'SIGNING' || isReplaceable(transaction);
}

/**
 * Reports whether a transaction is signed and may still be cancelled or replaced: no block has it,
 * or RPC nodes contradict each other on that.
 */
export function isReplaceable({ state, inclusion }: Pick<Transaction, 'state' | 'inclusion'>): boolean {
  return state === 'BROADCAST' || (state === 'CONFIRMING' && inclusion?.secondNode === 'disagrees');
}

/** Reports whether a transaction ended undecided: no signer approved it, and nothing was signed. */
export function endedUnapproved({ state, approvals }: Pick<Transaction, 'state' | 'approvals'>): boolean {
  return ['REJECTED', 'CANCELLED', 'EXPIRED'].includes(state) && approvals.length === 0;
}

/** Reports whether a transaction was cancelled, and neither approvals nor signed bytes exist. */
export function isPrunable(transaction: Transaction): boolean {
  const { state, attempts, nonceHeld } = transaction;
  return state === 'CANCELLED' && endedUnapproved(transaction) && attempts.length === 0 && !nonceHeld;
}

/**
 * Reports whether a member cancelled a transaction before anything of it was signed. One that was
 * given up fills its nonce instead.
 */
export function isCancelledUnsigned({
  state,
  cancelling,
  givenUp,
}: Pick<Transaction, 'state' | 'cancelling' | 'givenUp'>): boolean {
  return state === 'SIGNING' && cancelling && givenUp === null;
}

/** Returns the newest attempt, or null before the first. */
export function newestAttempt(transaction: Transaction): Attempt | null {
  return transaction.attempts.at(-1) ?? null;
}

/** Returns the attempts whose signed bytes exist and may be known to anyone. */
export function signedAttempts({ attempts }: Pick<Transaction, 'attempts'>): readonly SignedAttempt[] {
  return attempts.filter((attempt): attempt is SignedAttempt => attempt.signed !== null);
}

/**
 * Reports whether an attempt pays, was refused by every RPC node the only time that it was sent,
 * and was given up for transactions above its nonce. No RPC node has its bytes.
 */
export function isPermanentlyRejected(
  { purpose, sent }: Pick<Attempt, 'purpose' | 'sent'>,
  { givenUp }: Pick<Transaction, 'givenUp'>,
): boolean {
  return givenUp === 'REJECTED_BY_NODE' && purpose === 'intent' && sent?.outcome === 'refused' && sent.times === 1;
}

type SignedAttempt = Attempt & { readonly signed: NonNullable<Attempt['signed']> };

/**
 * Returns the hash of spec part 2: of the mined attempt, else of the newest signed one, else null.
 */
export function transactionHash(transaction: {
  readonly inclusion: Inclusion | null;
  readonly attempts: readonly { readonly signed: { readonly hash: string } | null }[];
}): string | null {
  if (transaction.inclusion !== null) return transaction.inclusion.hash;
  return transaction.attempts.findLast((attempt) => attempt.signed !== null)?.signed?.hash ?? null;
}

/**
 * Returns `confirmed` when deep enough for SUCCEEDED, and `finalized` when no reorg can undo it.
 */
export function finalityOf(transaction: Pick<Transaction, 'inclusion' | 'state'>): 'confirmed' | 'finalized' | null {
  if (transaction.inclusion === null || !isFinal(transaction.state)) return null;
  return transaction.inclusion.finalized ? 'finalized' : 'confirmed';
}
