import { chainsFrom, findChain } from '#chains/registry.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId, vaultOfTransaction } from '#domain/id.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { activityRecord } from '#http/encode/activity.ts';
import type { RecordScope } from '#http/encode/transaction.ts';
import { transactionRecord } from '#http/encode/transaction.ts';
import type { ListedRecord } from '#objects/vault/documents/listed-document.ts';
import { publicTransaction } from '#objects/vault/projection.ts';
import type { ActivityView, TransactionView } from '#objects/vault/views.ts';
import { vaultStub } from '#objects/vault/stub.ts';

/** Returns the record of a view for its reader. */
export function recordOf(context: HttpContext, view: TransactionView | ActivityView) {
  const { chain: name } = 'activity' in view ? view.activity : view.transaction;
  const scope = { policy: view.policy, viewer: view.viewer, chain: findChain(chainsFrom(context.env), name) };
  return 'activity' in view
    ? activityRecord(view.activity, scope)
    : transactionRecord(publicTransaction(view.transaction), scope);
}

/** Returns the record of a transaction or activity in a list. */
export function listedRecord(record: ListedRecord, scope: RecordScope) {
  return record.kind === 'activity' ? activityRecord(record, scope) : transactionRecord(record, scope);
}

/** Returns the transaction id in the path, or a problem when it is not a transaction id. */
export function transactionIdOf(context: HttpContext): TransactionId | Response {
  const id = parseTransactionId(context.req.param('txId') ?? '');
  const fault = { pointer: 'txId', code: 'invalid-id', detail: 'Must be a transaction id.' };
  return id ?? invalidRequest(context, [fault]);
}

/** Returns the object of the vault to which a transaction belongs. */
export function vaultStubOf(context: HttpContext, id: TransactionId) {
  return vaultStub(context.env, vaultOfTransaction(id));
}
