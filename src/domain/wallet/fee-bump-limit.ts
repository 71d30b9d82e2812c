import { unitsOf } from '#domain/asset/amount.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';

/** Ours: automatic replacements may cost up to twice the requested fee. */
const MAX_RAISE = 2n;

/**
 * Returns the most that the next attempt may cost when only RPC nodes require it: twice what a
 * member last requested. A recipient that spends an unconfirmed output, or an RPC node that claims
 * so, determines the cost of a replacement (BIP-125, rule 3), and co-signers sign each one. Returns
 * null when a member requested it, or when nothing was replaced yet and the price follows the
 * market: then the fee of the intent is the only bound.
 */
export function automaticBumpLimit({
  attempts,
  cancelling,
}: Pick<Transaction, 'attempts' | 'cancelling'>): bigint | null {
  const newest = attempts.at(-1);
  if (newest === undefined || !isRaisedByNodes(newest, cancelling ? 'cancellation' : 'intent')) return null;
  const lastRequested = attempts.findLastIndex(({ purpose }, i) => !isRaisedByNodes(attempts[i - 1], purpose));
  const base = lastRequested > 0 ? attempts[lastRequested] : undefined;
  return base === undefined ? null : unitsOf(base.maxFee) * MAX_RAISE;
}

/**
 * Reports whether the next attempt of the same purpose follows because RPC nodes require a higher
 * fee, without a member's request.
 */
function isRaisedByNodes(attempt: Attempt | undefined, purpose: Attempt['purpose']): boolean {
  const { sent = null } = attempt ?? {};
  return attempt?.purpose === purpose && sent?.outcome === 'underpriced' && sent.isAsked !== true;
}
