import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { exposureOf } from '#chains/inspect/exposure.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { largestFeeFor } from '#domain/wallet/fee-cap.ts';
import type { TransactionId } from '#domain/id.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Action, Intent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import type { Speed, Transaction } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';

export interface CreationRequest {
  /** Canonical chain name. */
  readonly chain: string;
  readonly action: Action;
  readonly note: string | null;
  readonly externalId: string | null;
  readonly speed: Speed;
  /** The time limit of its execution; null or absent without one. */
  readonly notAfterMs?: number | null;
  /**
   * A consolidation of this many UTXOs: the action pays nothing, and the vault uses its own wallet
   * as the recipient.
   */
  readonly joins?: number;
  /** The consolidation also joins UTXOs that may carry more than satoshi. Absent otherwise. */
  readonly includeMayCarryMore?: true;
  /**
   * Bitcoin: the current estimate in virtual bytes, which determines the fee cap. Null when
   * unknown; absent before it is estimated.
   */
  readonly virtualSize?: string | null;
  /** The largest fee that the caller allows, in the smallest unit. Absent: `largestFeeOf`. */
  readonly maxFee?: Amount;
  /**
   * The known address that an address of this request resembles, as the caller names it: it is not
   * the recipient.
   */
  readonly acceptLookalikeOf: string | null;
  /** The caller's Idempotency-Key and the hash of its request. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null;
}

export interface Origin {
  readonly vault: Vault;
  readonly chain: Chain;
  /** The wallet that acts. */
  readonly from: string;
  /** The known address that this one resembles, when the caller has accepted it. */
  readonly lookalikeOf: string | null;
  readonly actor: Actor;
  readonly nowMs: number;
}

/** Spec part 2. */
const DISPLAY_TYPES_OF: Readonly<Record<Action['kind'], Transaction['displayType']>> = {
  transfer: 'SENT',
  'contract-interaction': 'CONTRACT_INTERACTION',
  'erc20-approve': 'CONTRACT_INTERACTION',
  message: 'MESSAGE',
};

/** Returns the record of a new transaction, with its permanent intent and digest. */
export function newTransaction(request: CreationRequest, origin: Origin): Transaction {
  const { vault, chain, actor, nowMs } = origin;
  const id = newTransactionId(vault.id, nowMs, randomBytes(10));
  const intent = newIntent(request, origin, id);
  const exposure = exposureOf(intent, intent);
  return {
    id,
    vaultId: vault.id,
    version: 1,
    state: vault.configuration.initialState,
    stateReason: null,
    displayType: DISPLAY_TYPES_OF[intent.kind],
    direction: 'out',
    visible: true,
    visibilityChoice: null,
    chain: chain.name,
    intent,
    digest: intentDigest(intent),
    exposure,
    requiredApprovals: thresholdFor(vault.policy, exposure),
    approvals: [],
    rejection: null,
    attempts: [],
    cancelling: false,
    givenUp: null,
    waitsFor: null,
    endedByTimeAtMs: null,
    inclusion: null,
    watchedSinceMs: null,
    signature: null,
    speed: request.speed,
    ...(request.joins === undefined ? {} : { joins: request.joins }),
    ...(request.includeMayCarryMore === true ? { includeMayCarryMore: true } : {}),
    nonceHeld: false,
    externalId: request.externalId,
    createdBy: actor,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

function newIntent(request: CreationRequest, origin: Origin, transactionId: TransactionId): Intent {
  const { action: requested, note, joins, notAfterMs = null } = request;
  const { vault, chain, from, lookalikeOf, nowMs } = origin;
  const maxFee = request.maxFee ?? largestFeeOf(request, { vault, chain });
  const action = joins === undefined ? requested : consolidation(from);
  const frame = {
    vaultId: vault.id,
    transactionId,
    chain: chain.caip2,
    from,
    policyVersion: vault.policy.version,
    policyHash: policyHashOf(vault.policy),
    note,
    createdAtMs: nowMs,
    // After the time limit of the execution there is nothing to decide either.
    expiresAtMs: Math.min(nowMs + vault.configuration.decisionPeriodSeconds * 1000, notAfterMs ?? Infinity),
  };
  if (action.kind === 'message') return { ...frame, ...action };
  const end = notAfterMs === null ? {} : { notAfterMs };
  return { ...frame, ...action, maxFee, lookalikeOf, ...end };
}

/**
 * Returns a payment of nothing to the wallet itself: all spent UTXOs come back as one, less the
 * fee.
 */
export function consolidation(wallet: string): Extract<Action, { readonly kind: 'transfer' }> {
  return { kind: 'transfer', to: wallet, tokenAddress: null, amount: amountOf(0n) };
}

/**
 * Returns the largest fee that the intent can have, in the smallest unit: the smaller one of the
 * chain's cap for the size and the policy's.
 */
export function largestFeeOf(
  { virtualSize = null }: Pick<CreationRequest, 'virtualSize'>,
  { vault, chain }: Pick<Origin, 'vault' | 'chain'>,
): Amount {
  return largestFeeFor(chain, vault.policy.rules, virtualSize === null ? null : BigInt(virtualSize));
}

/**
 * Returns the lower-case hex SHA-256 over the canonical bytes, which signers approve and co-signers
 * rebuild.
 */
function intentDigest(intent: Intent): string {
  return bytesToHex(sha256(intentBytes(intent)));
}
