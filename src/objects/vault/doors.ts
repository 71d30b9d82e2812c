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
import { beginFeed, nextChanges } from '#objects/vault/commands/feed.ts';
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
import { flushRecord, readRecord, readRecordLater, setVisibility } from '#objects/vault/commands/record.ts';
import {
  approve,
  cancel,
  challenge,
  createTransaction,
  finalTransactions,
  heldNonces,
  previewCreation,
  recordEvent,
  reject,
  speedUp,
  transactionWork,
} from '#objects/vault/commands/transaction.ts';
import {
  createVault,
  describeVault,
  enableChain,
  projectedScope,
  putMember,
  requeueProjection,
} from '#objects/vault/commands/vault.ts';
import { lockedUtxos, lockUtxo, unlockUtxo, utxoWallet } from '#objects/vault/commands/utxo-lock.ts';
import { pendingDecisions } from '#objects/vault/commands/pending.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { recordExport } from '#objects/vault/writes/recovery-exports.ts';

/**
 * The three doors of a vault: what its callers can have it do, answer and record. A function behind
 * a door takes the context of the vault, the actor, and what the request says further. The actor of
 * operators and of the service itself is null.
 */

/** What people and operators have the vault do. */
const COMMANDS = {
  createTransaction,
  approve,
  reject,
  cancel,
  speedUp,
  setVisibility,
  requestRescan,
  lockUtxo,
  unlockUtxo,
  proposePolicy,
  renewMandate,
  decidePolicyChange,
  createVault,
  putMember,
  enableChain,
  requeueProjection,
  requestRefresh,
  giveUpRefresh,
  recordExport,
};

/** What people, operators and consumers read. */
const QUERIES = {
  previewCreation,
  readRecord,
  readRecordLater,
  flushRecord,
  challenge,
  policyInForce,
  founding,
  policyChanges,
  policyHistory,
  readPolicyChange,
  comparePolicy,
  listBalances,
  utxoWallet,
  lockedUtxos,
  pendingDecisions,
  readCredentialResets,
  verifyResetCancellation,
  beginFeed,
  nextChanges,
  projectedScope,
  describeVault,
  transactionWork,
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
  completeNotifications,
  progressKey,
  recordKey,
  reportRefresh,
  reportAdoption,
};

type Commands = typeof COMMANDS;
type Queries = typeof QUERIES;
type Reports = typeof REPORTS;

type ActorOf<F> = F extends (context: VaultContext, actor: infer A, ...further: never[]) => unknown ? Known<A> : null;
type Known<A> = unknown extends A ? null : A;
type Further<F> = F extends (context: VaultContext, actor: never, further: infer I) => unknown ? I : unknown;
type FurtherOfReport<F> = F extends (context: VaultContext, further: infer I) => unknown ? I : unknown;
type Answer<F> = F extends (...given: never[]) => infer R ? R : never;

export type CommandActor<T extends keyof Commands> = ActorOf<Commands[T]>;
export type QueryActor<T extends keyof Queries> = ActorOf<Queries[T]>;
export type Command<T extends keyof Commands> = { readonly type: T } & Further<Commands[T]>;
export type Query<T extends keyof Queries> = { readonly type: T } & Further<Queries[T]>;
export type Report<T extends keyof Reports> = { readonly type: T } & FurtherOfReport<Reports[T]>;

/** A vault, as its callers see it. */
export interface VaultDoors {
  readonly execute: <T extends keyof Commands>(
    actor: CommandActor<T>,
    command: Command<T>,
  ) => Promise<Awaited<Answer<Commands[T]>>>;
  readonly query: <T extends keyof Queries>(
    actor: QueryActor<T>,
    query: Query<T>,
  ) => Promise<Awaited<Answer<Queries[T]>>>;
  readonly report: <T extends keyof Reports>(report: Report<T>) => Promise<Awaited<Answer<Reports[T]>>>;
  /** For the sweep: restores a lost alarm. */
  readonly rearmAlarm: () => Promise<number>;
}

type Behind<F, A, G> = (context: VaultContext, actor: A, given: G) => Answer<F>;

export const BEHIND_EXECUTE: {
  readonly [T in keyof Commands]: Behind<Commands[T], CommandActor<T>, Command<T>>;
} = COMMANDS;
export const BEHIND_QUERY: {
  readonly [T in keyof Queries]: Behind<Queries[T], QueryActor<T>, Query<T>>;
} = QUERIES;
export const BEHIND_REPORT: {
  readonly [T in keyof Reports]: (context: VaultContext, given: Report<T>) => Answer<Reports[T]>;
} = REPORTS;
