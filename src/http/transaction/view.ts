import { chainsFrom, findChain } from '#chains/registry.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId, vaultOfTransaction } from '#domain/id.ts';
import type { HttpContext } from '#http/context.ts';
import { invalidRequest } from '#http/request-check.ts';
import { transactionRecord } from '#http/transaction/record.ts';
import { publicTransaction } from '#objects/projection.ts';
import type { TransactionView } from '#objects/vault-views.ts';

/** The record of a view, as its reader sees it. */
export function recordOf(context: HttpContext, { transaction, policy, viewer }: TransactionView) {
  const chain = findChain(chainsFrom(context.env), transaction.chain);
  return transactionRecord(publicTransaction(transaction), { policy, viewer, chain });
}

/** The transaction id of the path, or the problem that it is none. */
export function transactionIdOf(context: HttpContext): TransactionId | Response {
  const id = parseTransactionId(context.req.param('txId') ?? '');
  const fault = { pointer: 'txId', code: 'invalid-id', detail: 'is not a transaction id' };
  return id ?? invalidRequest(context, [fault]);
}

/** The object of the vault that a transaction belongs to. */
export function vaultObjectOf(context: HttpContext, id: TransactionId) {
  return context.env.VAULT.getByName(`vault:${vaultOfTransaction(id)}`);
}
