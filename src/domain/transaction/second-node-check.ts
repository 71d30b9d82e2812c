import type { SecondNodeVerdict } from '#domain/transaction/transaction.ts';

/** The `stateReason` of a transaction whose inclusion one RPC node states and another one contradicts. */
export const NODES_DISAGREE = 'NODES_DISAGREE';

/** What an inclusion that is deep enough does to its transaction. */
export interface SecondNodeCheck {
  /** Whether the inclusion ends the transaction now. */
  readonly ends: boolean;
  /** The `stateReason` of the record; null for none. */
  readonly reason: 'SECOND_NODE_AWAY' | typeof NODES_DISAGREE | null;
}

/**
 * Returns whether an inclusion ends its transaction. Where two RPC nodes are configured, two of them have to show it. A second node
 * that contradicts, or that gives no answer, holds the end up until it agrees or an operator takes it out of the configuration.
 *
 * Rejected: an end after some minutes without a second answer. A lying node and an attack on the availability of the honest one would
 * then be enough to show a payment that was never made.
 *
 * @param secondNode what a second node says of the inclusion; undefined where one node alone is configured
 * @param hasEnded the transaction has ended by this inclusion before
 */
export function checkSecondNode(secondNode: SecondNodeVerdict | undefined, hasEnded: boolean): SecondNodeCheck {
  if (secondNode === 'disagrees') return { ends: false, reason: NODES_DISAGREE };
  const isAwaited = secondNode === 'away' && !hasEnded;
  return isAwaited ? { ends: false, reason: 'SECOND_NODE_AWAY' } : { ends: true, reason: null };
}
