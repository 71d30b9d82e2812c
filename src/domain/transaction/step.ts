import type { EventOf, EventType } from '#domain/transaction/event.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';

/** The context of a decision, besides the record. */
export interface DecisionContext {
  readonly nowMs: number;
  /** The policy in force: approvals count only for its signers. */
  readonly policy: Policy;
  /** Returns the vault's decided spending of an asset within the last 24 hours. */
  readonly spentOf: (asset: AssetRef) => bigint;
}

/** The part of a record that a step may change. */
export type TransactionChange = Partial<
  Pick<
    Transaction,
    | 'state'
    | 'stateReason'
    | 'displayType'
    | 'approvals'
    | 'rejection'
    | 'openRejections'
    | 'attempts'
    | 'cancelling'
    | 'givenUp'
    | 'waitsFor'
    | 'endedByTimeAtMs'
    | 'inclusion'
    | 'watchedSinceMs'
    | 'signature'
    | 'nonceHeld'
    | 'visible'
    | 'visibilityChoice'
  >
>;

/**
 * A step returns the change, or null when nothing changes, or a refusal (only for events of
 * members).
 */
export type TransitionStep<E extends EventType> = (
  transaction: Transaction,
  event: EventOf<E>,
  context: DecisionContext,
) => TransactionChange | null | Refusal;

export function replaceNewest(transaction: Transaction, attempt: Attempt): readonly Attempt[] {
  return [...transaction.attempts.slice(0, -1), attempt];
}
