import type { SecondNodeVerdict } from '#domain/transaction/transaction.ts';

/**
 * The `stateReason` of a transaction whose inclusion one RPC node reports and another contradicts.
 */
export const NODES_DISAGREE = 'NODES_DISAGREE';

/** The effect of a deep enough inclusion on its transaction. */
export interface SecondNodeCheck {
  /** Whether the inclusion ends the transaction now. */
  readonly ends: boolean;
  /** The `stateReason` of the record; null for none. */
  readonly reason: 'SECOND_NODE_AWAY' | typeof NODES_DISAGREE | null;
}

/**
 * Returns whether an inclusion ends its transaction. When two RPC nodes are configured, both must
 * show it. A second RPC node that contradicts or does not answer delays the end until it agrees or
 * an operator removes it from the configuration.
 *
 * Rejected: an end after some minutes without a second answer. A lying RPC node and an attack on
 * the availability of the honest one would then be enough to show a payment that was never made.
 *
 * @param secondNode the second RPC node's verdict on the inclusion; undefined when only one is
 *   configured
 * @param hasEnded this inclusion has ended the transaction before
 */
export function checkSecondNode(secondNode: SecondNodeVerdict | undefined, hasEnded: boolean): SecondNodeCheck {
  if (secondNode === 'disagrees') return { ends: false, reason: NODES_DISAGREE };
  const isAwaited = secondNode === 'away' && !hasEnded;
  return isAwaited ? { ends: false, reason: 'SECOND_NODE_AWAY' } : { ends: true, reason: null };
}
