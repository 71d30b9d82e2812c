import type { TransitionStep } from '#domain/transaction/step.ts';
import { isCancelledUnsigned } from '#domain/transaction/transaction.ts';

export const cancel: TransitionStep<'cancel'> = () => ({ state: 'CANCELLED', stateReason: 'CANCELLED_BY_USER' });

/** An attempt without effect takes the nonce. The chain decides which attempt is mined. */
export const cancelInBroadcast: TransitionStep<'cancel'> = ({ cancelling }) =>
  cancelling ? null : { cancelling: true, stateReason: 'CANCELLING' };

/**
 * From now on nothing that pays is signed. A message has no nonce and ends at once. The job of a
 * payment ends it (`cancelUnsigned`), or signs an attempt without effect when others wait above its
 * nonce.
 */
export const cancelInSigning: TransitionStep<'cancel'> = (transaction, event, context) => {
  if (transaction.intent.kind === 'message') return cancel(transaction, event, context);
  return cancelInBroadcast(transaction, event, context);
};

export const cancelUnsigned: TransitionStep<'cancelUnsigned'> = (transaction) =>
  isCancelledUnsigned(transaction) ? { state: 'CANCELLED', stateReason: 'CANCELLED_BY_USER' } : null;
