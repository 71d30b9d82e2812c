import type { Cancellation, CredentialReset } from '#domain/access/credential-reset.ts';
import type { AccessRefusal } from '#domain/access/refusal.ts';

/**
 * Ours: a member who cancels every reset of a person would keep the person out for ever. In this
 * time a member cancels one reset of a person. Two hostile resets in a row take two members.
 */
const CANCELLATION_INTERVAL_MS = 90 * 24 * 60 * 60 * 1000;

/**
 * Returns why a user cannot cancel a reset, or null. The user of the reset, who may act by a
 * device, can cancel any number. Another user cancels one within 90 days: refuses
 * `reset-cancellation-used`.
 *
 * @param lastCancelledAtMs when this user last cancelled a reset of the same person; null for never
 */
export function cancellationRefusal(
  { userId }: Pick<CredentialReset, 'userId'>,
  cancellation: Pick<Cancellation, 'userId'>,
  { lastCancelledAtMs, nowMs }: { readonly lastCancelledAtMs: number | null; readonly nowMs: number },
): AccessRefusal | null {
  if (cancellation.userId === userId || lastCancelledAtMs === null) return null;
  const availableAtMs = lastCancelledAtMs + CANCELLATION_INTERVAL_MS;
  return nowMs < availableAtMs ? { code: 'reset-cancellation-used', availableAtMs } : null;
}
