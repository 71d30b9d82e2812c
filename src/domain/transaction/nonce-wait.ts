import type { TransactionId } from '#domain/id.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';

/**
 * A lower nonce of the wallet is unused: `waitsFor` names the transaction that owns it, and null
 * means that none does.
 */
export const WAITS_FOR_NONCE = 'WAITS_FOR_NONCE';

interface NonceWait {
  readonly stateReason?: string | null;
  readonly waitsFor?: TransactionId | null;
}

/** Returns the change that names the blocker of a transaction, or null when it is already named. */
export function waitBehind(before: NonceWait, blocker: TransactionId | null): NonceWait | null {
  if (before.stateReason === WAITS_FOR_NONCE && before.waitsFor === blocker) return null;
  return { stateReason: WAITS_FOR_NONCE, waitsFor: blocker };
}

/**
 * Returns the change of a transaction in BROADCAST after a check of its blocker, or null. A more
 * specific reason than the usual one of its state stays.
 *
 * @param blocker null when no lower nonce is unused
 */
export function waitInBroadcast(
  transaction: Pick<Transaction, 'stateReason' | 'waitsFor' | 'cancelling'>,
  blocker: { readonly transactionId: TransactionId | null } | null,
): NonceWait | null {
  const { stateReason, cancelling } = transaction;
  const usual = cancelling ? 'CANCELLING' : null;
  if (blocker === null) return stateReason === WAITS_FOR_NONCE ? { stateReason: usual } : null;
  const isOpen = stateReason === usual || stateReason === WAITS_FOR_NONCE;
  return isOpen ? waitBehind(transaction, blocker.transactionId) : null;
}

/** Returns the change without the blocker that the previous reason named. */
export function withoutStaleBlocker<C extends NonceWait>({ waitsFor = null }: NonceWait, change: C): C {
  const isStale = waitsFor !== null && change.stateReason !== undefined && change.waitsFor === undefined;
  return isStale ? { ...change, waitsFor: null } : change;
}
