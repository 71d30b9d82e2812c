import type { EventOf, EventType } from '#domain/transaction/event.ts';
import type { AssetRef } from '#domain/transaction/exposure.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';

/** What a decision is taken against, besides the record. */
export interface DecisionContext {
  readonly nowMs: number;
  /** The policy of now: votes count only for its signers. */
  readonly policy: Policy;
  /** What the vault has decided to spend of an asset within the last 24 hours. */
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

/** A step gives the change, or null for 'nothing new', or refuses (people only). */
export type TransitionStep<E extends EventType> = (
  transaction: Transaction,
  event: EventOf<E>,
  context: DecisionContext,
) => TransactionChange | null | Refusal;

export function replaceNewest(transaction: Transaction, attempt: Attempt): readonly Attempt[] {
  return [...transaction.attempts.slice(0, -1), attempt];
}
