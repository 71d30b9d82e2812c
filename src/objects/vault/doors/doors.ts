import type { WokenVault } from '#objects/vault/views.ts';
import type { Actor } from '#domain/access/approval.ts';
import { actOnMember, answerInvitation, memberAccess, recordAccessActs } from '#objects/vault/commands/access.ts';
import { pollActivityNow, followWork, knownTransactions, recordActivity } from '#objects/vault/commands/activity.ts';
import {
  listBalances,
  reconcileWork,
  scanTokens,
  recordHoldings,
  recordPrices,
  requestRescan,
} from '#objects/vault/commands/balance.ts';
import {
  readCredentialResets,
  recordCredentialReset,
  verifyResetCancellation,
} from '#objects/vault/commands/credential-reset.ts';
import { beginFeed, nextChanges, readFeed } from '#objects/vault/commands/feed.ts';
import { approve, challenge, reject, verifyDeviceRequest } from '#objects/vault/commands/decision.ts';
import { giveUpRefresh, refreshWork, reportRefresh, requestRefresh } from '#objects/vault/commands/key-refresh.ts';
import { keyWork, progressKey, recordKey } from '#objects/vault/commands/key.ts';
import { completeNotifications, notificationWork } from '#objects/vault/commands/notifications.ts';
import {
  adoptionWork,
  decidePolicyChange,
  founding,
  policiesAfter,
  policyChanges,
  policyHistory,
  policyInForce,
  proposePolicy,
  readPolicyChange,
  renewMandate,
  reportAdoption,
} from '#objects/vault/commands/policy.ts';
import { comparePolicy } from '#objects/vault/commands/policy-comparison.ts';
import { transactionProgress } from '#objects/vault/commands/progress.ts';
import { flushRecord, readRecord, readRecordLater, setVisibility } from '#objects/vault/commands/record.ts';
import {
  cancel,
  createTransaction,
  finalTransactions,
  heldNonces,
  previewCreation,
  recordEvent,
  speedUp,
  transactionWork,
} from '#objects/vault/commands/transaction.ts';
import {
  createVault,
  describeVault,
  enableChain,
  membership,
  projectedScope,
  putMember,
  requeueProjection,
} from '#objects/vault/commands/vault.ts';
import { lockedUtxos, lockUtxo, unlockUtxo, utxoWallet } from '#objects/vault/commands/utxo-lock.ts';
import { pendingDecisions } from '#objects/vault/commands/pending.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { recordExport } from '#objects/vault/writes/recovery-exports.ts';

/**
 * The four doors of a vault: what its callers can have it do, answer to a member, answer to the
 * service itself, and record. A function behind a door takes the context of the vault, for the
 * first two the actor, and what the request has further. The actor of operators is null.
 */

/** What people and operators have the vault do. */
const COMMANDS = {
  createTransaction,
  approve,
  reject,
  cancel,
  speedUp,
  setVisibility,
  flushRecord,
  requestRescan,
  lockUtxo,
  unlockUtxo,
  proposePolicy,
  renewMandate,
  decidePolicyChange,
  createVault,
  putMember,
  answerInvitation,
  actOnMember,
  enableChain,
  requeueProjection,
  requestRefresh,
  giveUpRefresh,
  recordExport,
};

/** What members read. */
const QUERIES = {
  previewCreation,
  readRecord,
  readRecordLater,
  challenge,
  policyInForce,
  policyChanges,
  policyHistory,
  readPolicyChange,
  comparePolicy,
  listBalances,
  utxoWallet,
  pendingDecisions,
  readCredentialResets,
  membership,
  memberAccess,
  beginFeed,
  nextChanges,
  readFeed,
  projectedScope,
};

/** What consumers and operators read. */
const WORK = {
  founding,
  lockedUtxos,
  verifyResetCancellation,
  verifyDeviceRequest,
  describeVault,
  transactionWork,
  transactionProgress,
  heldNonces,
  finalTransactions,
  keyWork,
  refreshWork,
  adoptionWork,
  policiesAfter,
  reconcileWork,
  scanTokens,
  knownTransactions,
  followWork,
  notificationWork,
};

/** What consumers and other objects report. */
const REPORTS = {
  recordEvent,
  recordActivity,
  pollActivityNow,
  recordHoldings,
  recordPrices,
  recordCredentialReset,
  recordAccessActs,
  completeNotifications,
  progressKey,
  recordKey,
  reportRefresh,
  reportAdoption,
};

type Commands = typeof COMMANDS;
type Queries = typeof QUERIES;
type WorkReads = typeof WORK;
type Reports = typeof REPORTS;

type Door = Readonly<Record<string, (context: VaultContext, ...request: never[]) => unknown>>;
type Further<F> = F extends (context: VaultContext, actor: never, further: infer I) => unknown ? I : unknown;
type FurtherAlone<F> = F extends (context: VaultContext, further: infer I) => unknown ? I : unknown;
type Answer<D extends Door, T extends keyof D> = ReturnType<D[T]>;

export type CommandActor<T extends keyof Commands> = Parameters<Commands[T]>[1];
export type Command<T extends keyof Commands> = { readonly type: T } & Further<Commands[T]>;
export type Query<T extends keyof Queries> = { readonly type: T } & Further<Queries[T]>;
export type Work<T extends keyof WorkReads> = { readonly type: T } & FurtherAlone<WorkReads[T]>;
export type Report<T extends keyof Reports> = { readonly type: T } & FurtherAlone<Reports[T]>;

/** A vault, as its callers see it. */
export interface VaultDoors {
  readonly execute: <T extends keyof Commands>(
    actor: CommandActor<T>,
    command: Command<T>,
  ) => Promise<Awaited<Answer<Commands, T>>>;
  readonly query: <T extends keyof Queries>(actor: Actor, query: Query<T>) => Promise<Awaited<Answer<Queries, T>>>;
  readonly work: <T extends keyof WorkReads>(work: Work<T>) => Promise<Awaited<Answer<WorkReads, T>>>;
  readonly report: <T extends keyof Reports>(report: Report<T>) => Promise<Awaited<Answer<Reports, T>>>;
  /** For the sweep: restores a lost alarm. */
  readonly wake: () => Promise<WokenVault>;
}

export const BEHIND_EXECUTE: {
  readonly [T in keyof Commands]: (
    context: VaultContext,
    actor: CommandActor<T>,
    request: Command<T>,
  ) => Answer<Commands, T>;
} = COMMANDS;
export const BEHIND_QUERY: {
  readonly [T in keyof Queries]: (context: VaultContext, actor: Actor, request: Query<T>) => Answer<Queries, T>;
} = QUERIES;
export const BEHIND_WORK: {
  readonly [T in keyof WorkReads]: (context: VaultContext, request: Work<T>) => Answer<WorkReads, T>;
} = WORK;
export const BEHIND_REPORT: {
  readonly [T in keyof Reports]: (context: VaultContext, request: Report<T>) => Answer<Reports, T>;
} = REPORTS;
