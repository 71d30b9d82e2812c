import type { Amount } from '#domain/asset/amount.ts';
import type { TokenLabel, UsdValue } from '#domain/asset/valuation.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { Exposure } from '#domain/transaction/exposure.ts';
import type { TokenId, TransactionId, UserId, VaultId } from '#domain/id.ts';
import type { AttemptPurpose, Intent } from '#domain/transaction/intent.ts';
import type { WalletMovements } from '#domain/activity/movement.ts';

/**
 * The ten public states: a closed set, because a client that meets a state it does not know stops. Everything finer is
 * `stateReason`, an open text (peers: Fireblocks has 16 states and some 110 sub-states).
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

/** How soon whoever wants it wants it to be mined, and pays for it. Ours. */
export const SPEEDS = ['slow', 'normal', 'fast'] as const;
export type Speed = (typeof SPEEDS)[number];

/** Whose voice it was: the person, and the token that carried it. */
export interface Actor {
  readonly userId: UserId;
  readonly tokenId: TokenId;
  /** Where the request came from, as the platform saw it; kept for the audit, and decides nothing. */
  readonly address: string | null;
}

export interface Approval {
  readonly actor: Actor;
  /** Lower-case hex digest of the intent that this voice was given for. */
  readonly digest: string;
  /** Of the digest, by a device of the person's own; null for a voice that is the coordinator's word. */
  readonly device: DeviceSignature | null;
  readonly atMs: number;
}

/** What the RPC nodes answer to signed bytes that they do not take, and how often in a row. */
export interface RpcRejection {
  readonly answer: string;
  readonly times: number;
}

/** A transaction that made a coin of an attempt, or one before it, by what it spends itself: `<transaction>:<number of the output>`. */
export interface UtxoParent {
  readonly txid: string;
  readonly spends: readonly string[];
}

/** One set of bytes for the chain. Replacements are further attempts at the same account nonce, never a new transaction. */
export interface Attempt {
  readonly number: number;
  readonly purpose: AttemptPurpose;
  readonly nonce: string;
  /** The unsigned bytes, hex; stored before the co-signers are asked, so a second run asks for the same signature. */
  readonly payload: string;
  /** What is signed, hex: the chain's signing hash of `payload`. */
  readonly signingDigest: string;
  /** The most that this attempt can cost, in the chain's smallest unit. */
  readonly maxFee: Amount;
  /** The last block that can hold it; null for bytes that wait as long as it takes. */
  readonly validUntil: string | null;
  /** The newest block of the chain when what the bytes hang on was read there; absent where the bytes say it, and in older records. */
  readonly anchoredAt?: string;
  /** Where a chain pays with coins, of those that are new in this attempt; absent elsewhere and in older records. */
  readonly coinParents?: readonly UtxoParent[];
  readonly preparedAtMs: number;
  /** Of the run that prepared it, drawn at random: another run may have composed the same bytes. Absent where nobody asks for it. */
  readonly preparedBy?: string;
  /** False while it is certain that no co-signer has begun to sign these bytes; absent where that is not known. */
  readonly isAsked?: boolean;
  /** The signed bytes, hex, and their hash: stored before the first send. */
  readonly signed: { readonly raw: string; readonly hash: string; readonly atMs: number } | null;
  /** The last answer of the network, and when. */
  readonly sent: {
    readonly outcome: SendOutcome;
    readonly answer: string | null;
    readonly atMs: number;
    readonly times: number;
    /** A person has asked for the attempt that follows. */
    readonly isAsked?: true;
  } | null;
  /** Of these bytes, by the RPC nodes, since they last took them; null or absent where there is none. */
  readonly refusal?: RpcRejection | null;
}

/**
 * `unknown` is a time-out or a server error: the bytes may be out, so only the same bytes may follow. `underpriced` calls for
 * another attempt, and so does `lapsed`: those bytes can not be included any more. `refused` did not get in and is not followed by another one now; an earlier attempt or somebody else's
 * transaction may have the nonce, and the chain will tell. `undecided`: every node that answers refuses the bytes, and one that does not
 * answer may have them.
 */
export const SEND_OUTCOMES = ['accepted', 'unknown', 'underpriced', 'lapsed', 'refused', 'undecided'] as const;
export type SendOutcome = (typeof SEND_OUTCOMES)[number];

/**
 * What a second RPC node says of an inclusion. `away`: it does not answer, or is behind. `disagrees`: it answers, and has something else.
 */
export type SecondNodeVerdict = 'agrees' | 'away' | 'disagrees';

/** Where an attempt was found in the chain, and what it did to the wallet besides costing its fee. */
export interface Inclusion extends WalletMovements {
  readonly hash: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly succeeded: boolean;
  readonly feePaid: Amount;
  /** Depth of the block, counting itself; of two RPC nodes the smaller one, where two state the inclusion. */
  readonly confirmations: number;
  /** Beyond any reorganisation, by two RPC nodes where two or more are configured. */
  readonly finalized: boolean;
  /** The chain's own words when it did not succeed. */
  readonly failure: string | null;
  /** Absent where one node alone is configured, and in older records. */
  readonly secondNode?: SecondNodeVerdict;
  /** Of two or more configured nodes one alone states that the block is final; absent for all other inclusions. */
  readonly isFinalForOneNode?: true;
}

/** And what it was worth, by the prices of when this block was first seen. */
export interface ValuedInclusion extends Inclusion {
  readonly usdValue: UsdValue | null;
  /** What the tokens that it moved call themselves. */
  readonly tokens: readonly TokenLabel[];
}

export interface Transaction {
  readonly id: TransactionId;
  readonly vaultId: VaultId;
  /** Grows by one with every change: guards the projection, and names a revision. */
  readonly version: number;
  readonly state: TransactionState;
  readonly stateReason: string | null;
  readonly displayType: DisplayType;
  readonly direction: 'out';
  readonly visible: boolean;
  /** What a person has chosen, which no rule overrides; null while nobody has. */
  readonly visibilityChoice: boolean | null;
  /** Canonical name of the chain; the intent holds its CAIP-2. */
  readonly chain: string;
  readonly intent: Intent;
  /** Lower-case hex SHA-256 over the intent: what every vote names. */
  readonly digest: string;
  /** Worked out of the intent when it was created, for the rules of the policy. */
  readonly exposure: Exposure;
  /** What the policy asked for when it was created. */
  readonly requiredApprovals: number;
  readonly approvals: readonly Approval[];
  readonly rejection: Approval | null;
  readonly attempts: readonly Attempt[];
  /** Somebody wants it undone while it waits to be mined: every further attempt is a cancellation. */
  readonly cancelling: boolean;
  /** Why nothing of it will be carried out, since its nonce is used up because others wait above it; else null, or absent in what is old. */
  readonly givenUp?: string | null;
  /** With WAITS_FOR_NONCE the transaction that owns the lowest unused nonce; null where none does, absent where nothing is waited for. */
  readonly waitsFor?: TransactionId | null;
  /** When it was last cancelled because its time was over; null or absent where it was not. */
  readonly endedByTimeAtMs?: number | null;
  readonly inclusion: ValuedInclusion | null;
  /** Since when a FAILED transaction without an inclusion is watched all the same; null or absent where it is not (any more). */
  readonly watchedSinceMs?: number | null;
  /** Of a message, in hex, as the chain's wallets give it. */
  readonly signature: string | null;
  /** By which fees it is offered to the network, within the fee that is approved; no part of what is. */
  readonly speed: Speed;
  /** Of a consolidation: how many of the smallest coins it joins. Absent for everything else; no part of what is approved. */
  readonly joins?: number;
  /** From the decision to sign until the wallet's nonce allocator was told how it ended: a forgotten nonce blocks a wallet. */
  readonly nonceHeld: boolean;
  readonly externalId: string | null;
  readonly createdBy: Actor;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

const PENDING: ReadonlySet<TransactionState> = new Set(['DRAFT', 'SUBMITTED']);
const FINAL: ReadonlySet<TransactionState> = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED']);

/** Still to be decided: takes approvals and rejections. A DRAFT does so too, because the interface has no submit call. */
export function isPending(state: TransactionState): boolean {
  return PENDING.has(state);
}

export function isFinal(state: TransactionState): boolean {
  return FINAL.has(state);
}

/** Reports whether a transaction is signed, and may still be undone or replaced: no block has it, or RPC nodes contradict each other over that. */
export function isReplaceable({ state, inclusion }: Pick<Transaction, 'state' | 'inclusion'>): boolean {
  return state === 'BROADCAST' || (state === 'CONFIRMING' && inclusion?.secondNode === 'disagrees');
}

/** The newest attempt, or null before the first. */
export function newestAttempt(transaction: Transaction): Attempt | null {
  return transaction.attempts.at(-1) ?? null;
}

/** What could be anywhere: of the others nobody has the bytes. */
export function signedAttempts({ attempts }: Pick<Transaction, 'attempts'>): readonly SignedAttempt[] {
  return attempts.filter((attempt): attempt is SignedAttempt => attempt.signed !== null);
}

/**
 * Reports whether an attempt pays, was refused by every RPC node the only time that it was sent, and was given up for what
 * waits above its nonce: its bytes are nowhere.
 */
export function isPermanentlyRejected(
  { purpose, sent }: Pick<Attempt, 'purpose' | 'sent'>,
  { givenUp = null }: Pick<Transaction, 'givenUp'>,
): boolean {
  return givenUp === 'REJECTED_BY_NODE' && purpose === 'intent' && sent?.outcome === 'refused' && sent.times === 1;
}

type SignedAttempt = Attempt & { readonly signed: NonNullable<Attempt['signed']> };

/** Spec part 2: the hash of the attempt that was mined, else of the newest signed one, else null. */
export function transactionHash(transaction: {
  readonly inclusion: Inclusion | null;
  readonly attempts: readonly { readonly signed: { readonly hash: string } | null }[];
}): string | null {
  if (transaction.inclusion !== null) return transaction.inclusion.hash;
  return transaction.attempts.findLast((attempt) => attempt.signed !== null)?.signed?.hash ?? null;
}

/** `confirmed` is deep enough for SUCCEEDED; `finalized` is beyond any reorganisation. */
export function finalityOf(transaction: Pick<Transaction, 'inclusion' | 'state'>): 'confirmed' | 'finalized' | null {
  if (transaction.inclusion === null || !isFinal(transaction.state)) return null;
  return transaction.inclusion.finalized ? 'finalized' : 'confirmed';
}
