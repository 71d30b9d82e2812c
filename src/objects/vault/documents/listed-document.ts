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
}

export interface PublicAttempt extends Omit<Attempt, 'payload' | 'signed' | 'coinParents'> {
  readonly signed: { readonly hash: string; readonly atMs: number } | null;
}

interface ListedTransaction extends PublicTransaction {
  readonly kind: 'transaction';
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
      }),
      exactly<ListedActivity>()({ ...activityFields, kind: z.literal('activity') }),
    ]),
  ),
);
