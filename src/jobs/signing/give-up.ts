import { unreachable } from '#domain/result.ts';
import type { FailureReason, TransactionEvent } from '#domain/transaction/event.ts';
import { attemptEndsAtMs, isPastNotAfterTime } from '#domain/transaction/intent.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isCancelledUnsigned, isPermanentlyRejected, signedAttempts } from '#domain/transaction/transaction.ts';
import { nextPurpose } from '#domain/transaction/transition.ts';
import { waitsForPrice } from '#domain/wallet/fee-cap.ts';
import { FUNDS_IN_FLIGHT } from '#domain/wallet/reservation.ts';
import type { NonceFault } from '#jobs/signing/nonce-allocation.ts';
import { endReleasing, hasOrderedNonces } from '#jobs/signing/nonce-allocation.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { TransactionWork } from '#objects/vault/views.ts';

/** One run of a job of signing. */
export interface TurnOfWork {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly work: TransactionWork;
}

/**
 * Co-signers use their own clocks: signing ends only after each of them has refused for some time.
 */
const CLOCK_TOLERANCE_MS = 10 * 60 * 1000;

/**
 * Records why an attempt was not prepared. A fault that may pass delays it, and any other ends it.
 */
export async function recordFault({ env, vault, work }: TurnOfWork, fault: NonceFault): Promise<void> {
  const { transaction } = work;
  // A transaction that fills a nonce for others does not end for its price, which may fall.
  const isWaiting = fault.kind !== 'permanent' || fillsNonce(transaction) || waitsForPrice(transaction, fault.reason);
  if (isWaiting) await vault.report({ type: 'recordEvent', id: work.transaction.id, event: delayOf(fault) });
  else await giveUp({ env, vault, work }, fault);
}

/**
 * Returns why nothing more is signed of a transaction after its time limit. The limit that a member
 * chose needs no tolerance.
 */
export function timeFault(transaction: Transaction, nowMs: number): 'NOT_AFTER_PASSED' | 'SIGNING_TIMEOUT' | null {
  const purpose = nextPurpose(transaction);
  if (purpose === 'intent' && isPastNotAfterTime(transaction.intent, nowMs)) return 'NOT_AFTER_PASSED';
  return nowMs >= attemptEndsAtMs(transaction.intent, purpose) + CLOCK_TOLERANCE_MS ? 'SIGNING_TIMEOUT' : null;
}

/** Returns the event for a fault that may pass with time. */
function delayOf(fault: NonceFault): TransactionEvent {
  switch (fault.kind) {
    case 'busy':
      return { type: 'delaySigning', reason: 'WALLET_BUSY' };
    case 'transient':
      return { type: 'delaySigning', reason: 'CHAIN_UNAVAILABLE' };
    case 'unproven':
      return { type: 'delaySigning', reason: 'NONCE_UNCONFIRMED' };
    case 'in-flight':
      return { type: 'delaySigning', reason: FUNDS_IN_FLIGHT };
    case 'behind':
      return { type: 'waitForNonce', blocker: { transactionId: fault.waitsFor } };
    case 'permanent':
      return { type: 'delaySigning', reason: fault.reason === 'FEE_CAP_EXCEEDED' ? 'FEE_ABOVE_CAP' : fault.reason };
    default:
      return unreachable(fault);
  }
}

/**
 * Ends signing: a first attempt ends with its transaction, and a replacement ends alone. When
 * others wait above its nonce, an attempt without effect uses the nonce, because a transaction that
 * was approved may be undone.
 */
export async function giveUp(
  { env, vault, work }: TurnOfWork,
  { reason, detail }: { readonly reason: FailureReason; readonly detail: string | null },
): Promise<void> {
  const { transaction, chain } = work;
  const { id } = transaction;
  if (signedAttempts(transaction).some((attempt) => !isPermanentlyRejected(attempt, transaction))) {
    await vault.report({ type: 'recordEvent', id, event: { type: 'abandonReplacement', reason } });
    return;
  }
  // A transaction that fills its nonce, and for which co-signers refuse even that, ends: the next
  // transaction gets the nonce.
  const canFill = hasOrderedNonces(chain) && !fillsNonce(transaction);
  const end = { reason, detail };
  const event = { type: 'failSigning', ...end } as const;
  if (!canFill) {
    const ending = isCancelledUnsigned(transaction) ? ({ type: 'cancelUnsigned' } as const) : event;
    await vault.report({ type: 'recordEvent', id, event: ending });
  } else if (!(await endReleasing({ env, vault, transaction }, { event, state: 'FAILED' }))) {
    await vault.report({ type: 'recordEvent', id, event: { type: 'fillNonce', ...end } });
  }
}

/**
 * Ends a transaction that a member cancelled before anything was signed, and reports whether it
 * ended. It needs neither RPC nodes nor co-signers. When others wait above its nonce, it goes on:
 * an attempt without effect uses the nonce.
 */
export async function endCancelled({ env, vault, work }: TurnOfWork): Promise<boolean> {
  const { transaction, chain } = work;
  if (!isCancelledUnsigned(transaction)) return false;
  const event = { type: 'cancelUnsigned' } as const;
  if (hasOrderedNonces(chain)) return endReleasing({ env, vault, transaction }, { event, state: 'CANCELLED' });
  await vault.report({ type: 'recordEvent', id: transaction.id, event });
  return true;
}

/**
 * Reports whether a transaction was given up or cancelled, and no signed attempt uses its nonce
 * yet.
 */
export function fillsNonce(transaction: Transaction): boolean {
  const isUp = transaction.givenUp !== null || isCancelledUnsigned(transaction);
  return isUp && signedAttempts(transaction).every(({ purpose }) => purpose === 'intent');
}
