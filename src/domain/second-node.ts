import type { SecondNode } from '#domain/transaction.ts';

/**
 * So long a payment that one RPC node shows waits for a second one that can not tell. Longer than a node takes to start again or to catch
 * up after a fork; a node that is away for a day holds each payment up by this, and none for good. Ours.
 */
export const SECOND_NODE_TIMEOUT_MS = 10 * 60_000;

/** An inclusion that is deep enough to end its transaction, and what a second RPC node says of it. */
export interface SecondOpinion {
  readonly secondNode: SecondNode | undefined;
  /** The end would be SUCCEEDED: nobody pays again because of it. After any other end people may. */
  readonly isPayment: boolean;
  /** The transaction has ended by this inclusion before. */
  readonly hasEnded: boolean;
  /** Since when no second node could tell; null before. */
  readonly awaitedSinceMs: number | null;
  readonly nowMs: number;
}

export interface Ruling {
  /** Whether the inclusion ends the transaction now. */
  readonly ends: boolean;
  /** What the record says of it as its `stateReason`; null for nothing. */
  readonly reason: 'SECOND_NODE_AWAY' | 'NODES_DISAGREE' | 'CONFIRMED_BY_ONE_NODE' | null;
  readonly awaitedSinceMs: number | null;
}

/**
 * Decides whether an inclusion ends its transaction. Where two nodes are configured, both have to show it. A second one that contradicts
 * holds the end up until it agrees or is taken out of the configuration. One that can not tell holds it up for a while, and then a payment
 * counts as made on the word of one node, which the record says; that a payment was NOT made is never concluded from one node.
 */
export function ruleOnSecondNode(opinion: SecondOpinion): Ruling {
  const { secondNode, isPayment, hasEnded, nowMs } = opinion;
  if (secondNode === 'disagrees') return { ends: false, reason: 'NODES_DISAGREE', awaitedSinceMs: null };
  if (secondNode !== 'away') return { ends: true, reason: null, awaitedSinceMs: null };
  if (hasEnded) {
    const reason = opinion.awaitedSinceMs === null ? null : 'CONFIRMED_BY_ONE_NODE';
    return { ends: true, reason, awaitedSinceMs: opinion.awaitedSinceMs };
  }
  const awaitedSinceMs = opinion.awaitedSinceMs ?? nowMs;
  if (isPayment && nowMs - awaitedSinceMs >= SECOND_NODE_TIMEOUT_MS) {
    return { ends: true, reason: 'CONFIRMED_BY_ONE_NODE', awaitedSinceMs };
  }
  return { ends: false, reason: 'SECOND_NODE_AWAY', awaitedSinceMs };
}
