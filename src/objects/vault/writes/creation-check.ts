import { counterpartiesOf } from '#chains/inspect/counterparties.ts';
import { findChain } from '#chains/families/registry.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { findLookalike } from '#domain/activity/lookalike.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { dailyLimitViolation, ruleViolation } from '#domain/policy/rules.ts';
import type { Action } from '#domain/transaction/intent.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import { endedUnapproved } from '#domain/transaction/transaction.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { maxOwnPending, walletAddress } from '#domain/vault/vault.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import { similarAddresses } from '#objects/vault/writes/known-counterparties.ts';
import { largestFeeOf, newTransaction } from '#objects/vault/writes/new-transaction.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';

export interface CreationScope {
  readonly storage: VaultStorage;
  readonly chains: readonly Chain[];
  readonly vault: Vault;
  readonly actor: Actor;
  readonly nowMs: number;
}

export interface CheckedCreation {
  readonly transaction: Transaction;
  /** True when this Idempotency-Key has created it before: nothing new is created. */
  readonly replayed: boolean;
}

/**
 * Returns the result of a creation without writing anything.
 *
 * Refuses, in order: `idempotency-key-reused`, `external-id-taken`, `not-after-passed`,
 * `chain-not-enabled`, `wallet-not-ready`, `too-many-pending`, `too-many-own-pending`,
 * `recipient-is-token`, `recipient-looks-alike`, `max-fee-above-cap`, `policy-forbids`.
 */
export function checkCreation(scope: CreationScope, request: CreationRequest): Result<CheckedCreation, Refusal> {
  const { storage, chains, vault, actor, nowMs } = scope;
  const { idempotency, externalId } = request;
  const before = idempotency === null ? null : storage.findIdempotent(actor.userId, idempotency.key, nowMs);
  if (before !== null) {
    return before.fingerprint === idempotency?.fingerprint
      ? accepted({ transaction: before.transaction, replayed: true })
      : refused({ code: 'idempotency-key-reused' });
  }
  const first = externalId === null ? null : storage.transactionOfExternalId(externalId);
  // One that ended without an approval was never paid: its id is free, so no member can block it.
  if (first !== null && !endedUnapproved(first)) {
    const { id: transactionId, state, createdBy } = first;
    return refused({ code: 'external-id-taken', transactionId, state, createdBy: createdBy.userId });
  }
  // Checked here and not at parsing, so that a request that is repeated after its time limit gets
  // its record.
  const { notAfterMs = null } = request;
  if (notAfterMs !== null && notAfterMs <= nowMs) return refused({ code: 'not-after-passed', notAfterMs });
  const chain = findChain(chains, request.chain);
  if (chain === null || !vault.configuration.chains.includes(chain.name)) {
    return refused({ code: 'chain-not-enabled', chain: request.chain });
  }
  const from = walletAddress(vault, chain.name);
  if (from === null) return refused({ code: 'wallet-not-ready', chain: chain.name });
  const limit = vault.configuration.mostPending;
  if (storage.pending.all() >= limit) return refused({ code: 'too-many-pending', limit });
  const ownLimit = maxOwnPending(vault.configuration);
  if (storage.pending.createdBy(actor.userId) >= ownLimit) {
    return refused({ code: 'too-many-own-pending', limit: ownLimit });
  }
  const { acceptLookalikeOf, action } = request;
  if (isUnacknowledgedToken(action, chain)) return refused({ code: 'recipient-is-token', address: action.to });
  const known = similarAddresses(storage, vault, chain);
  const like = findLookalike(counterpartiesOf(action), known, null);
  const beyond = like === null ? null : findLookalike(counterpartiesOf(action), known, acceptLookalikeOf);
  if (beyond !== null) {
    return refused({ code: 'recipient-looks-alike', ...beyond });
  }
  const lookalikeOf = like?.known ?? null;
  const largest = excessLimit(request, { vault, chain });
  if (largest !== null) return refused({ code: 'max-fee-above-cap', largest });
  const transaction = newTransaction(request, { vault, chain, from, lookalikeOf, actor, nowMs });
  const { rules } = vault.policy;
  const breach =
    ruleViolation(rules, transaction.exposure) ??
    dailyLimitViolation(rules, transaction.exposure, (asset) => storage.policies.spentOf(asset, nowMs));
  if (breach !== null) return refused({ code: 'policy-forbids', breach });
  return accepted({ transaction, replayed: false });
}

/**
 * Returns the largest fee that is possible when the request names a larger one; null when it does
 * not. Before the size is estimated, only what no size allows is too large: the estimate itself
 * begins with a preview.
 */
function excessLimit(request: CreationRequest, scope: { readonly vault: Vault; readonly chain: Chain }): Amount | null {
  const { maxFee, virtualSize } = request;
  if (maxFee === undefined) return null;
  const { maxFeeRate: _ofSize, ...ofAnySize } = scope.chain;
  const largest = largestFeeOf(request, virtualSize === undefined ? { ...scope, chain: ofAnySize } : scope);
  return unitsOf(maxFee) > unitsOf(largest) ? largest : null;
}

/**
 * Reports whether a transfer sends a token to its own contract without an acknowledgement. On
 * Solana the check of the accounts refuses every mint.
 */
function isUnacknowledgedToken(action: Action, { family }: Chain): action is Extract<Action, { kind: 'transfer' }> {
  if (action.kind !== 'transfer' || family !== 'evm') return false;
  return action.to === action.tokenAddress && action.recipientIsToken !== true;
}
