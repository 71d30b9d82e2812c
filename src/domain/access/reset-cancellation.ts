import type { Cancellation, CredentialReset } from '#domain/access/credential-reset.ts';
import type { AccessRefusal } from '#domain/access/refusal.ts';

/**
 * Ours: a member who cancels every reset of a person would keep the person out for ever. In this
 * time a member cancels one reset of a person. Two hostile resets in a row take two members.
 */
const CANCELLATION_INTERVAL_MS = 90 * 24 * 60 * 60 * 1000;

/** A requested cancellation. */
export interface RequestedCancellation extends Cancellation {
  /** The user has logged in, or a device signed. A bare token proves less: it may be stolen. */
  readonly isProven: boolean;
}

/**
 * Returns why a user cannot cancel a reset, or null. The user of the reset can cancel any number by
 * a session or a device. By a token, the user cancels one within 90 days, and so does another user:
 * refuses `reset-cancellation-used`. Otherwise the thief of one token would keep its owner out.
 *
 * @param lastCancelledAtMs when this user last cancelled a reset of the same person; null for never
 */
export function cancellationRefusal(
  { userId }: Pick<CredentialReset, 'userId'>,
  canceller: Pick<RequestedCancellation, 'userId' | 'isProven'>,
  { lastCancelledAtMs, nowMs }: { readonly lastCancelledAtMs: number | null; readonly nowMs: number },
): AccessRefusal | null {
  const isOwnProven = canceller.userId === userId && canceller.isProven;
  if (isOwnProven || lastCancelledAtMs === null) return null;
  const availableAtMs = lastCancelledAtMs + CANCELLATION_INTERVAL_MS;
  return nowMs < availableAtMs ? { code: 'reset-cancellation-used', availableAtMs } : null;
}
