import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import { unreachable } from '#domain/result.ts';

/** The fields of every intent. */
interface IntentFrame {
  readonly vaultId: VaultId;
  readonly transactionId: TransactionId;
  /** CAIP-2: names differ between vendors, and a chain id alone does not identify its family. */
  readonly chain: string;
  /** The wallet that acts, in the chain's canonical spelling. */
  readonly from: string;
  readonly policyVersion: number;
  /** Lower-case hex SHA-256 of that policy. */
  readonly policyHash: string;
  readonly note: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** The fields of every intent that ends in a transaction on a chain. */
interface OnChainFrame extends IntentFrame {
  /**
   * A known address that an address of this intent resembles, accepted by its creator; shown to
   * every signer.
   */
  readonly lookalikeOf: string | null;
  /** The most that may be paid for inclusion, in the chain's smallest unit. */
  readonly maxFee: Amount;
  /**
   * From this time on, no paying attempt is signed or sent, and one that still waits is cancelled;
   * absent for no time limit.
   */
  readonly notAfterMs?: number;
}

/** Pays the native asset or tokens to a recipient. */
export interface TransferIntent extends OnChainFrame {
  readonly kind: 'transfer';
  readonly to: string;
  /** Token contract in canonical spelling, or null for the native asset. */
  readonly tokenAddress: string | null;
  readonly amount: Amount;
  /**
   * The hash of an unconfirmed transaction (child pays for parent): its payment to the wallet is
   * spent back to the wallet, with a fee for both. Absent from every other transfer.
   */
  readonly paysFor?: string;
  /**
   * A text in the chain beside the payment, by which exchanges route it (Solana). Absent from every
   * other transfer.
   */
  readonly memo?: string;
  /**
   * The creator acknowledges that the recipient is a program-derived address, which has no key
   * (Solana): only its program can move the payment. Present exactly for such a recipient; shown to
   * every signer.
   */
  readonly recipientMayHaveNoKey?: true;
  /**
   * The creator acknowledges that the recipient is the contract of the token itself, which can
   * seldom return what it receives (EVM). Absent from every other transfer, and from those that
   * were created before the field existed.
   */
  readonly recipientIsToken?: true;
  /**
   * The most that the token may withhold from the recipient, in units of the token, out of the
   * amount (Token-2022 on Solana). Absent for nothing, and never 0.
   */
  readonly maxTokenFee?: Amount;
}

/**
 * Fields that only some transfers have. An absent field is absent from the canonical bytes, too.
 */
export type TransferExtras = Pick<
  TransferIntent,
  'paysFor' | 'memo' | 'recipientMayHaveNoKey' | 'recipientIsToken' | 'maxTokenFee'
>;

/** Calls a contract with exactly these bytes. */
export interface ContractInteractionIntent extends OnChainFrame {
  readonly kind: 'contract-interaction';
  readonly to: string;
  /** Calldata in lower-case hex with 0x. */
  readonly data: string;
  /** The amount of the native asset that the call pays. */
  readonly value: Amount;
}

/**
 * Sets an allowance: the spender may take tokens from the wallet, up to an amount; 0 revokes an
 * earlier allowance.
 */
export interface Erc20ApproveIntent extends OnChainFrame {
  readonly kind: 'erc20-approve';
  readonly tokenAddress: string;
  readonly spender: string;
  readonly amount: Amount;
}

/**
 * EIP-191 for a text, EIP-712 for typed data, Solana's off-chain message (sRFC 3, version 1),
 * BIP-322 (simple) on Bitcoin, and EIP-191 for bytes that are no text.
 */
export const MESSAGE_FORMATS = ['eip191', 'eip712', 'solana-offchain', 'bip322', 'eip191-hex'] as const;
type MessageFormat = (typeof MESSAGE_FORMATS)[number];

/** Signs a text that no chain accepts as a transaction. */
export interface MessageIntent extends IntentFrame {
  readonly kind: 'message';
  readonly format: MessageFormat;
  /**
   * Exactly the signed text; typed data in its one canonical spelling; of `eip191-hex` the signed
   * bytes, in lower-case hex with 0x.
   */
  readonly message: string;
  /**
   * The `chainId` in the domain of typed data, in digits, where it is not the id of `chain`. Its
   * creator acknowledges that the signature is for that chain. Present exactly for such data; shown
   * to every signer.
   */
  readonly foreignChainId?: string;
  /**
   * The number of keys that typed data had at its creation and that no type declares. They were
   * dropped, because they are not signed. Absent for none. It is what the coordinator claims, since
   * the dropped keys are not stored.
   */
  readonly droppedKeys?: number;
}

/** Fields that only some messages have. An absent field is absent from the canonical bytes, too. */
export type MessageExtras = Pick<MessageIntent, 'foreignChainId' | 'droppedKeys'>;

export type OnChainIntent = TransferIntent | ContractInteractionIntent | Erc20ApproveIntent;

/**
 * What the signers approve: every field that moves value, fixed at creation and never edited.
 * Approvals bind to the hash of its canonical bytes. Every co-signer rebuilds that hash from the
 * fields and verifies that the bytes to sign do exactly this. The account nonce is not part of it:
 * it is allocated at signing, so that a slow approval never blocks a faster one.
 */
export type Intent = OnChainIntent | MessageIntent;

/**
 * A requested action, before it belongs to a vault: everything in the chain's canonical spelling.
 */
export type Action =
  | Pick<TransferIntent, 'kind' | 'to' | 'tokenAddress' | 'amount' | keyof TransferExtras>
  | Pick<ContractInteractionIntent, 'kind' | 'to' | 'data' | 'value'>
  | Pick<Erc20ApproveIntent, 'kind' | 'tokenAddress' | 'spender' | 'amount'>
  | Pick<MessageIntent, 'kind' | 'format' | 'message' | keyof MessageExtras>;

/** Ours: a quorum that is reached just before the expiry still has a day for signing. */
const SIGNING_GRACE_MS = 24 * 60 * 60 * 1000;

/**
 * Ours: how long after payments cancellations can still be signed. A cancellation moves nothing,
 * and the transactions above its nonce cannot reach the chain without it. A coordinator gains one
 * cancellation at one nonce for each approved intent of that time, within its approved fee.
 */
const CANCELLATION_GRACE_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Ours: the longest time between the creation of what signers approve and its end. People overlook
 * a year in a date. Only the coordinator knows rejections, so it could use an approval without end
 * years later.
 */
export const MAX_APPROVAL_LIFETIME_MS = 90 * 24 * 60 * 60 * 1000;

/** Reports whether an intent could be signed longer than any approval may live. */
export function livesTooLong(intent: Intent): boolean {
  const lastMs = Math.max(intent.expiresAtMs, endOf(intent) ?? 0);
  return lastMs - intent.createdAtMs > MAX_APPROVAL_LIFETIME_MS;
}

/**
 * Returns the time from which on no co-signer signs a payment: a coordinator cannot keep approvals
 * without end.
 */
export function signingEndsAtMs(intent: Intent): number {
  return Math.min(intent.expiresAtMs + SIGNING_GRACE_MS, endOf(intent) ?? Infinity);
}

/** Returns the time from which on no co-signer signs an attempt for this purpose. */
export function attemptEndsAtMs(intent: Intent, purpose: AttemptPurpose): number {
  if (purpose === 'intent') return signingEndsAtMs(intent);
  return Math.max(intent.expiresAtMs + SIGNING_GRACE_MS, endOf(intent) ?? 0) + CANCELLATION_GRACE_MS;
}

/** Reports whether the time in which an intent may be executed is over. */
export function isPastNotAfterTime(intent: Intent, nowMs: number): boolean {
  const endMs = endOf(intent);
  return endMs !== null && nowMs >= endMs;
}

function endOf(intent: Intent): number | null {
  return intent.kind === 'message' ? null : (intent.notAfterMs ?? null);
}

/**
 * The purpose of an attempt: to execute the intent, or to replace it at the same account nonce so
 * that it can never be included. Both rely on the approvals of the intent. A cancellation moves
 * nothing, and may cost as much as the payment may.
 */
export const ATTEMPT_PURPOSES = ['intent', 'cancellation'] as const;
export type AttemptPurpose = (typeof ATTEMPT_PURPOSES)[number];

/**
 * Returns what the bytes of an attempt do. A cancellation is a payment of nothing from the wallet
 * to itself.
 */
export function actionOfAttempt(intent: OnChainIntent, purpose: AttemptPurpose): OnChainIntent {
  if (purpose === 'intent') return intent;
  const { vaultId, transactionId, chain, from, policyVersion, policyHash, note, createdAtMs, expiresAtMs } = intent;
  const frame = { vaultId, transactionId, chain, from, policyVersion, policyHash, note, createdAtMs, expiresAtMs };
  const { maxFee } = intent;
  return { ...frame, kind: 'transfer', to: from, tokenAddress: null, amount: NOTHING, maxFee, lookalikeOf: null };
}

const NOTHING = amountOf(0n);

/** Reports whether the intent needs one approval more than the policy requires. */
export function requiresExtraApproval(intent: Intent): boolean {
  return intent.kind !== 'message' && intent.lookalikeOf !== null;
}

/** The domain of an intent's canonical bytes. */
export const INTENT_DOMAIN = 'conclave/intent/v1';

/**
 * Returns the bytes whose SHA-256 is the digest that signers approve (GET challenge shows both).
 * The kind comes first, so the other fields are never read as those of another kind.
 */
export function intentBytes(intent: Intent): Uint8Array<ArrayBuffer> {
  const endMs = endOf(intent);
  const fields: CanonicalField[] = [
    ['kind', intent.kind],
    ['vaultId', String(intent.vaultId)],
    ['transactionId', intent.transactionId],
    ['chain', intent.chain],
    ['from', intent.from],
    ...actionFields(intent),
    ['policyVersion', String(intent.policyVersion)],
    ['policyHash', intent.policyHash],
    ['note', intent.note],
    ['createdAtMs', String(intent.createdAtMs)],
    ['expiresAtMs', String(intent.expiresAtMs)],
    ...(endMs === null ? [] : [['notAfterMs', String(endMs)] as const]),
  ];
  return canonicalBytes(INTENT_DOMAIN, fields);
}

function extraFields(extras: TransferExtras): readonly CanonicalField[] {
  const { paysFor, memo, recipientMayHaveNoKey, recipientIsToken, maxTokenFee } = extras;
  return [
    ...(paysFor === undefined ? [] : [['paysFor', paysFor] as const]),
    ...(memo === undefined ? [] : [['memo', memo] as const]),
    ...(recipientMayHaveNoKey === undefined ? [] : [['recipientMayHaveNoKey', String(recipientMayHaveNoKey)] as const]),
    ...(recipientIsToken === undefined ? [] : [['recipientIsToken', String(recipientIsToken)] as const]),
    ...(maxTokenFee === undefined ? [] : [['maxTokenFee', maxTokenFee] as const]),
  ];
}

function messageExtraFields({ foreignChainId, droppedKeys }: MessageExtras): readonly CanonicalField[] {
  return [
    ...(foreignChainId === undefined ? [] : [['foreignChainId', foreignChainId] as const]),
    ...(droppedKeys === undefined ? [] : [['droppedKeys', String(droppedKeys)] as const]),
  ];
}

function actionFields(intent: Intent): readonly CanonicalField[] {
  switch (intent.kind) {
    case 'transfer':
      return [
        ['to', intent.to],
        ['tokenAddress', intent.tokenAddress],
        ['amount', intent.amount],
        ['maxFee', intent.maxFee],
        ['lookalikeOf', intent.lookalikeOf],
        ...extraFields(intent),
      ];
    case 'contract-interaction':
      return [
        ['to', intent.to],
        ['data', intent.data],
        ['value', intent.value],
        ['maxFee', intent.maxFee],
        ['lookalikeOf', intent.lookalikeOf],
      ];
    case 'erc20-approve':
      return [
        ['tokenAddress', intent.tokenAddress],
        ['spender', intent.spender],
        ['amount', intent.amount],
        ['maxFee', intent.maxFee],
        ['lookalikeOf', intent.lookalikeOf],
      ];
    case 'message':
      return [['format', intent.format], ['message', intent.message], ...messageExtraFields(intent)];
    default:
      return unreachable(intent);
  }
}
