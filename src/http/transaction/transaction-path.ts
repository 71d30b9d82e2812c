import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { TransactionId } from '#domain/id.ts';
import { vaultOfTransaction } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { activityRecord } from '#http/encode/activity.ts';
import type { RecordScope } from '#http/encode/transaction.ts';
import { transactionRecord } from '#http/encode/transaction.ts';
import type { ListedRecord, PublicTransaction } from '#objects/vault/documents/listed-document.ts';
import { MAX_LISTED_BYTES } from '#objects/vault/documents/listed-document.ts';
import { publicTransaction } from '#objects/vault/projection.ts';
import type { ActivityView, TransactionView } from '#objects/vault/views.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/** Returns the record of a view for its reader. */
export function recordOf(context: HttpContext, view: TransactionView | ActivityView) {
  const { chain: name } = 'activity' in view ? view.activity : view.transaction;
  const scope = { policy: view.policy, viewer: view.viewer, chain: findChain(chainsFrom(context.env), name) };
  return 'activity' in view
    ? activityRecord(view.activity, scope)
    : transactionRecord(publicTransaction(view.transaction), scope);
}

/** Returns the record of a transaction or activity in a list, without its long fields. */
export function listedRecord(record: ListedRecord, scope: RecordScope) {
  return record.kind === 'activity'
    ? activityRecord(record, scope)
    : shortened(transactionRecord(record, scope), record.omitted);
}

/**
 * Returns a record without its long fields, for a list. A row from before release 0.3.0 has all of
 * its calldata, and every row has its message.
 */
export function shortened(record: TransactionRecord, stored: PublicTransaction['omitted'] = []): TransactionRecord {
  const omitsData = stored.includes('data') || isLong(record.data);
  const omitsMessage = isLong(record.message);
  return {
    ...record,
    ...(omitsData ? { data: null, call: null } : {}),
    ...(omitsMessage ? { message: null } : {}),
    omitted: [...(omitsData ? (['data'] as const) : []), ...(omitsMessage ? (['message'] as const) : [])],
  };
}

type TransactionRecord = ReturnType<typeof transactionRecord>;

function isLong(text: string | null): boolean {
  if (text === null) return false;
  return text.startsWith('0x') ? text.length > 2 + 2 * MAX_LISTED_BYTES : text.length > MAX_LISTED_BYTES;
}

/** Returns the object of the vault to which a transaction belongs. */
export function vaultStubOf(context: HttpContext, id: TransactionId) {
  return vaultStub(context.env, vaultOfTransaction(id));
}
