import * as z from 'zod';
import type { Activity } from '#domain/activity/activity.ts';
import type { Attempt, Transaction } from '#domain/transaction/transaction.ts';
import { activityFields } from '#objects/vault/documents/activity-documents.ts';
import { timeMs } from '#objects/vault/documents/fields.ts';
import { publicAttemptFields, transactionFields } from '#objects/vault/documents/transaction-document.ts';
import { documentCodec, exactly, remembering } from '#store/document.ts';

/**
 * A transaction in the read model, without the bytes to sign and the signed bytes. Only the
 * consumers need them, and get them from the vault object.
 */
export interface PublicTransaction extends Omit<Transaction, 'attempts'> {
  readonly attempts: readonly PublicAttempt[];
  /** The fields of the intent that a row of the list leaves out; absent for none. */
  readonly omitted?: readonly 'data'[];
}

export interface PublicAttempt extends Omit<Attempt, 'payload' | 'signed' | 'coinParents'> {
  readonly signed: { readonly hash: string; readonly atMs: number } | null;
}

interface ListedTransaction extends PublicTransaction {
  readonly kind: 'transaction';
}

/**
 * Ours: the bytes of calldata that a row of the list keeps. A member can create transactions with
 * 24 KB of it, and all vaults share the read model. The vault object has all of it.
 */
export const MAX_LISTED_BYTES = 1024;
const MAX_LISTED_DATA = 2 + 2 * MAX_LISTED_BYTES;

/** Returns a transaction as a row of the list. */
export function listedTransaction(transaction: PublicTransaction): ListedTransaction {
  const { intent } = transaction;
  const row = { ...transaction, kind: 'transaction' } as const;
  if (intent.kind !== 'contract-interaction' || intent.data.length <= MAX_LISTED_DATA) return row;
  return { ...row, intent: { ...intent, data: '0x' }, omitted: ['data'] };
}

interface ListedActivity extends Activity {
  readonly kind: 'activity';
}

/** A row of the list: a transaction or an activity. */
export type ListedRecord = ListedTransaction | ListedActivity;

const publicAttempt = exactly<PublicAttempt>()({
  ...publicAttemptFields,
  signed: z.object({ hash: z.string(), atMs: timeMs }).nullable(),
});

/** A client polls the same page, so most records of a list were read before. */
export const listedCodec = remembering(
  documentCodec<ListedRecord>(
    'listed record',
    z.discriminatedUnion('kind', [
      exactly<ListedTransaction>()({
        ...transactionFields,
        kind: z.literal('transaction'),
        attempts: z.array(publicAttempt),
        omitted: z.array(z.literal('data')).exactOptional(),
      }),
      exactly<ListedActivity>()({ ...activityFields, kind: z.literal('activity') }),
    ]),
  ),
);
