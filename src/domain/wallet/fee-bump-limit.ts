import { unitsOf } from '#domain/asset/amount.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';

/** Ours: up to twice the fee a replacement is made without a person's asking. */
const MAX_RAISE = 2n;

/**
 * The most that the next attempt may cost where RPC nodes alone want it: twice what a person last asked for. A recipient who
 * spends what waits to be mined, or a node that says so, decides what a replacement costs (BIP-125, rule 3), and co-signers sign
 * each one. Null where a person has asked for it, or nothing was replaced yet and the price follows the market: then the fee of
 * the intent is the only bound.
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

/** Reports whether an attempt is followed by one of the same purpose because RPC nodes want more, and no person does. */
function isRaisedByNodes(attempt: Attempt | undefined, purpose: Attempt['purpose']): boolean {
  const { sent = null } = attempt ?? {};
  return attempt?.purpose === purpose && sent?.outcome === 'underpriced' && sent.isAsked !== true;
}
