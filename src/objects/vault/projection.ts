import type { Activity } from '#domain/activity/activity.ts';
import { isWatched } from '#domain/activity/activity.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { searched } from '#domain/asset/movement.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isFinal, isPending, transactionHash } from '#domain/transaction/transaction.ts';
import { isWatchedAfterFailure, outstandingJob } from '#domain/transaction/job.ts';
import type { PublicTransaction } from '#objects/vault/documents/listed-document.ts';
import { listedCodec, listedTransaction } from '#objects/vault/documents/listed-document.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { readableOrNull } from '#store/document.ts';

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
  readonly memo: string | null;
  /** A job is pending. */
  readonly watched: boolean;
  /** When the sweep may have to wake the vault for it; null without a job. */
  readonly dueAtMs: number | null;
  readonly record: string;
  readonly kind: string;
  /** Null for a record that the vault did not create. */
  readonly createdBy: string | null;
  /** The contracts of the tokens that move, between spaces. */
  readonly tokens: string;
  /** The addresses of others, between spaces. */
  readonly counterparties: string;
}

/** Returns addresses as a text in which a filter finds each of them: see `searched`. */
function searchable(addresses: readonly (string | null)[]): string {
  const found = new Set(addresses.flatMap((address) => (address === null ? [] : searched(address))));
  return [...found].map((address) => ` ${address}`).join('') + (found.size === 0 ? '' : ' ');
}

/** Those of transactions that a codec remembers: the newest records are read again and again. */
const documents = new WeakMap<Transaction, string>();

/** Returns a transaction as a row of the list. */
function transactionDocument(transaction: Transaction): string {
  const document = documents.get(transaction) ?? listedCodec.encode(listedTransaction(publicTransaction(transaction)));
  documents.set(transaction, document);
  return document;
}

/** Returns an activity as a row of the list. */
function activityDocument(activity: Activity): string {
  return listedCodec.encode({ kind: 'activity', ...activity });
}

function projectedActivity(activity: Activity): ProjectedTransaction {
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
    memo: activity.memo ?? null,
    watched: isWatched(activity),
    dueAtMs: isWatched(activity) ? dueAtMs(activity) : null,
    record: activityDocument(activity),
    kind: 'activity',
    createdBy: null,
    ...participantsIn(activity.movements, activity.wallet, { tokens: [], others: [activity.signer] }),
  };
}

export function publicTransaction(transaction: Transaction): PublicTransaction {
  const attempts = transaction.attempts.map(({ payload: _payload, coinParents: _coinParents, signed, ...attempt }) => ({
    ...attempt,
    signed: signed === null ? null : { hash: signed.hash, atMs: signed.atMs },
  }));
  return { ...transaction, attempts };
}

/**
 * Most blocks are final an hour after the record. Polls until then change nothing that the sweep
 * could miss.
 */
const FINALITY_DUE_MS = 60 * 60_000;

/**
 * Returns when the vault acts next on a record: at the end of its decision period while people
 * decide, at once while it is in flight.
 */
function dueAtMs(record: Transaction | Activity): number {
  if ('intent' in record && isPending(record.state)) return record.intent.expiresAtMs;
  return isFinal(record.state) ? record.updatedAtMs + FINALITY_DUE_MS : record.updatedAtMs;
}

interface Named {
  readonly tokens: readonly (string | null)[];
  readonly others: readonly (string | null)[];
}

/** Returns the tokens and the addresses of others that an intent names. */
function namedIn(intent: Intent): Named {
  switch (intent.kind) {
    case 'transfer':
      return { tokens: [intent.tokenAddress], others: [intent.to] };
    case 'erc20-approve':
      return { tokens: [intent.tokenAddress], others: [intent.spender] };
    case 'contract-interaction':
      return { tokens: [], others: [intent.to] };
    case 'message':
      return { tokens: [], others: [] };
  }
}

/** Returns the tokens and the addresses of others in movements, and those that are named. */
function participantsIn(movements: readonly ChainMovement[], wallet: string, { tokens, others }: Named) {
  const addresses = [...others, ...movements.flatMap(({ from, to }) => [from, to])];
  return {
    tokens: searchable([...tokens, ...movements.map(({ tokenAddress }) => tokenAddress)]),
    counterparties: searchable(addresses.filter((address) => address !== wallet)),
  };
}

export function projectedTransaction(transaction: Transaction): ProjectedTransaction {
  const { intent } = transaction;
  // A given-up transaction is polled at its own times and must not precede those in flight.
  const isWatchedBySweep = outstandingJob(transaction) !== null && !isWatchedAfterFailure(transaction);
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
    memo: transaction.intent.kind === 'transfer' ? (transaction.intent.memo ?? null) : null,
    watched: isWatchedBySweep,
    dueAtMs: isWatchedBySweep ? dueAtMs(transaction) : null,
    record: transactionDocument(transaction),
    kind: transaction.intent.kind,
    createdBy: transaction.createdBy.userId,
    ...participantsIn(transaction.inclusion?.movements ?? [], intent.from, namedIn(intent)),
  };
}

/** Returns the row of a record of the vault; null when it has none with this id. */
export function projectedRecord(storage: VaultStorage, id: string): ProjectedTransaction | null {
  const transaction = storage.transaction(id);
  if (transaction !== null) return projectedTransaction(transaction);
  const activity = storage.activities.read(id);
  return activity === null ? null : projectedActivity(activity);
}

/** Returns the documents of records, by their ids. An unreadable one is left out and logged. */
export function recordDocuments(storage: VaultStorage, ids: ReadonlySet<string>): ReadonlyMap<string | null, string> {
  const found = new Map<string | null, string>();
  for (const transaction of storage.transactions([...ids])) {
    found.set(transaction.id, transactionDocument(transaction));
  }
  for (const id of ids) {
    if (found.has(id)) continue;
    const activity = readableOrNull(() => storage.activities.read(id), { id });
    if (activity !== null) found.set(id, activityDocument(activity));
  }
  return found;
}
