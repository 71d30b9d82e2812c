import type { TransactionId } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import { accepted, type Result } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import { findActivity, setActivityVisibility } from '#objects/vault/commands/activity.ts';
import { findTransaction, setTransactionVisibility } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { type ActivityView, type TransactionView, versionOf } from '#objects/vault/views.ts';

/** What members read and set of a record of either kind: a transaction or an activity. */

type RecordView = TransactionView | ActivityView;

/** Returns a transaction or activity. Refuses `forbidden`, then `transaction-not-found`. */
export function readRecord(
  context: VaultContext,
  actor: Actor,
  { id }: { readonly id: TransactionId },
): Result<RecordView, Refusal> {
  const found = findTransaction(context, actor, { id, permission: 'view' });
  // Transactions come first: they are read far more often.
  return found.ok ? found : (findActivity(context, actor, { id, permission: 'view' }) ?? found);
}

/** Returns the record once it differs from `seen` or time is over. Refuses as `readRecord` then. */
export async function readRecordLater(
  context: VaultContext,
  actor: Actor,
  { id, seen, waitMs }: { readonly id: TransactionId; readonly seen: number; readonly waitMs: number },
): Promise<Result<RecordView, Refusal>> {
  const found = readRecord(context, actor, { id });
  if (!found.ok || versionOf(found.value) !== seen) return found;
  await context.changes.next(id, waitMs);
  return readRecord(context, actor, { id });
}

/** Updates the history in D1 for a reader. Refuses as `readRecord` does. */
export async function flushRecord(
  context: VaultContext,
  actor: Actor,
  { id }: { readonly id: TransactionId },
): Promise<Result<null, Refusal>> {
  const found = readRecord(context, actor, { id });
  if (!found.ok) return found;
  await context.flush();
  return accepted(null);
}

/**
 * Sets for all members whether lists show a record. Refuses, in order: `forbidden`,
 * `transaction-not-found`.
 */
export async function setVisibility(
  context: VaultContext,
  actor: Actor,
  request: { readonly id: TransactionId; readonly visible: boolean },
): Promise<Result<RecordView, Refusal>> {
  const ofOthers = await setActivityVisibility(context, actor, request);
  return ofOthers ?? setTransactionVisibility(context, actor, request);
}
