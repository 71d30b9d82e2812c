import type { Activity } from '#domain/activity/activity.ts';
import { isWatched } from '#domain/activity/activity.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { transactionHash } from '#domain/transaction/transaction.ts';
import { isWatchedAfterFailure, outstandingJob } from '#domain/transaction/job.ts';
import type { PublicTransaction } from '#objects/vault/documents/listed-document.ts';
import { listedCodec } from '#objects/vault/documents/listed-document.ts';

/** The columns of the read model, and the record itself as a document. */
export interface ProjectedTransaction {
  readonly id: string;
  readonly vaultId: number;
  readonly version: number;
  readonly state: string;
  readonly stateReason: string | null;
  readonly displayType: string;
  readonly chain: string;
  readonly direction: string;
  readonly visible: boolean;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly txHash: string | null;
  readonly externalId: string | null;
  /** A job is pending: the sweep wakes the vault when the record has not changed for a while. */
  readonly watched: boolean;
  readonly record: string;
}

export function projectedActivity(activity: Activity): ProjectedTransaction {
  const { id, vaultId, version, state, stateReason, displayType, chain, direction, visible } = activity;
  return {
    id,
    vaultId,
    version,
    state,
    stateReason,
    displayType,
    chain,
    direction,
    visible,
    createdAtMs: activity.createdAtMs,
    updatedAtMs: activity.updatedAtMs,
    txHash: activity.hash,
    externalId: null,
    watched: isWatched(activity),
    record: listedCodec.encode({ kind: 'activity', ...activity }),
  };
}

export function publicTransaction(transaction: Transaction): PublicTransaction {
  const attempts = transaction.attempts.map(({ payload: _payload, coinParents: _coinParents, signed, ...attempt }) => ({
    ...attempt,
    signed: signed === null ? null : { hash: signed.hash, atMs: signed.atMs },
  }));
  return { ...transaction, attempts };
}

export function projectedTransaction(transaction: Transaction): ProjectedTransaction {
  return {
    id: transaction.id,
    vaultId: transaction.vaultId,
    version: transaction.version,
    state: transaction.state,
    stateReason: transaction.stateReason,
    displayType: transaction.displayType,
    chain: transaction.chain,
    direction: transaction.direction,
    visible: transaction.visible,
    createdAtMs: transaction.createdAtMs,
    updatedAtMs: transaction.updatedAtMs,
    txHash: transactionHash(transaction),
    externalId: transaction.externalId,
    // A given-up transaction is polled at its own times and must not precede those in flight.
    watched: outstandingJob(transaction) !== null && !isWatchedAfterFailure(transaction),
    record: listedCodec.encode({ kind: 'transaction', ...publicTransaction(transaction) }),
  };
}
