import type { Activity } from '#domain/activity/activity.ts';
import { isWatched } from '#domain/activity/activity.ts';
import { counterpartiesOf } from '#chains/inspect/counterparties.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { isWatchedAfterFailure, outstandingJob } from '#domain/transaction/job.ts';
import type { Actor, Transaction } from '#domain/transaction/transaction.ts';
import { isFinal, newestAttempt } from '#domain/transaction/transaction.ts';
import type { Decision, Effect } from '#domain/transaction/transition.ts';
import { effectsOfCreation } from '#domain/transaction/transition.ts';
import type { Vault } from '#domain/vault.ts';
import type { Posting } from '#domain/asset/balance.ts';
import { balanceLines } from '#domain/asset/balance.ts';
import { NATIVE } from '#domain/activity/movement.ts';
import { enqueueMissingKeys } from '#objects/vault/writes/key-jobs.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { OutboxJob } from '#objects/vault/outbox.ts';
import { VALUATION_DELAY_MS, pollDelayMs, PROJECTION_DELAY_MS } from '#objects/vault/outbox.ts';
import { retryDelayMs, watchDelayMs } from '#objects/vault/outbox.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { walletsOf } from '#objects/vault/wallets.ts';

/** What made a record change: the event's name, and the person behind it (null for the service itself). */
export interface Cause {
  readonly action: string;
  readonly actor: Actor | null;
}

/** It has left the wallet, or may still do so. */
const SPENDING: ReadonlySet<Transaction['state']> = new Set(['SIGNING', 'BROADCAST', 'CONFIRMING', 'SUCCEEDED']);

/** Everything that a new record brings with it: its row, its first audit line, its job and its projection. */
export function writeCreation(storage: VaultStorage, transaction: Transaction, cause: Cause): void {
  storage.insertTransaction(transaction);
  appendHistory(storage, { before: null, after: transaction, cause });
  schedule(storage, transaction, effectsOfCreation(transaction));
  enqueueNotification(storage, transaction);
}

/** Counts what was decided to be spent, as the rules in force count it. */
function addSpent(storage: VaultStorage, transaction: Transaction): void {
  const vault = storage.vault();
  if (vault === null) throw new Error('a vault that decides has a policy');
  storage.policies.addSpent(transaction, vault.policy.rules, transaction.updatedAtMs);
}

/** Everything that a decision brings with it. Nothing at all when it changed nothing. */
export function writeDecision(storage: VaultStorage, before: Transaction, written: Decision & { cause: Cause }): void {
  const { transaction: after, changed, effects, cause } = written;
  if (!changed) return;
  storage.updateTransaction(before, after);
  const spends = SPENDING.has(after.state);
  if (spends && !SPENDING.has(before.state)) addSpent(storage, after);
  if (!spends && SPENDING.has(before.state)) storage.policies.removeSpent(after.id);
  if (after.inclusion !== before.inclusion) post(storage, after, postingOfTransaction(after));
  // Only what really happened makes somebody known: a proposal is no relation.
  if (after.state === 'SUCCEEDED' && before.state !== 'SUCCEEDED') {
    storage.addCounterparties(counterpartiesOf(after.intent));
  }
  appendHistory(storage, { before, after, cause });
  schedule(storage, after, effects);
  if (after.state !== before.state && isFinal(after.state)) enqueueNotification(storage, after);
}

export interface VaultChange {
  readonly action: string;
  readonly detail: string | null;
  readonly actor: Actor | null;
  /** Of the policy in force where the change has none of its own. */
  readonly digest?: string;
  readonly reason?: string;
}

/** A change of members, policy or keys: one audit line. */
export function writeVaultChange(storage: VaultStorage, vault: Vault, change: VaultChange): void {
  storage.appendHistory({
    transactionId: null,
    version: 0,
    from: null,
    to: null,
    reason: null,
    digest: policyHashOf(vault.policy),
    ...change,
    atMs: Date.now(),
  });
  storage.enqueueDirectory(Date.now() + PROJECTION_DELAY_MS);
}

/** The vault as it is from now on, with the keys and the balances that it lacks. */
export function writeVault(storage: VaultStorage, after: Vault, chains: readonly Chain[]): void {
  storage.putVault(after);
  enqueueMissingKeys(storage, after, chains);
  const opened = walletsOf(after).filter(({ chain }) => storage.balances.open({ chain, ...NATIVE }, true));
  if (opened.length > 0) enqueueReconciliation(storage);
}

/** Everything that a founding brings with it. */
export function writeNewVault(storage: VaultStorage, vault: Vault, chains: readonly Chain[]): void {
  storage.createTables();
  storage.putVault(vault);
  storage.policies.adopt({ policy: vault.policy, mandate: null }, policyHashOf(vault.policy));
  writeVaultChange(storage, vault, { action: 'found', detail: null, actor: null });
  enqueueMissingKeys(storage, vault, chains);
}

export interface ActivityChange extends Omit<Cause, 'action'> {
  readonly before: Activity | null;
  /** The same object when nothing is new. */
  readonly after: Activity;
  readonly action: string;
}

/** What a look at a chain brings with it: when the next one is due, and where something is new its row, audit line and projection. */
export function writeActivity(storage: VaultStorage, change: ActivityChange, pollIntervalMs: number): void {
  const { before, after, action, actor } = change;
  const nowMs = Date.now();
  const { id: transactionId, version } = after;
  if (isWatched(after)) {
    const dueAtMs =
      nowMs + (after.block?.isFinal === true ? VALUATION_DELAY_MS : pollDelayMs(after, pollIntervalMs, nowMs));
    storage.enqueueJob({ transactionId, job: 'follow', version, dueAtMs, tries: 0 });
  } else storage.completeJob(transactionId, 'follow');
  if (after === before) return;
  storage.activities.put(after);
  post(storage, after, postingOfActivity(after));
  // What waits may be taken back: people are told when a block has it.
  if (after.block !== null && (before === null || before.block === null)) enqueueNotification(storage, after);
  storage.appendHistory({
    transactionId,
    version,
    action,
    actor,
    from: before?.state ?? null,
    to: after.state,
    reason: after.stateReason,
    digest: null,
    detail: after.hash,
    atMs: after.updatedAtMs,
  });
  enqueueProjection(storage, transactionId, version);
}

function post(storage: VaultStorage, { id, chain, visible }: Activity | Transaction, posting: Posting | null): void {
  if (storage.balances.post({ recordId: id, chain, isSeen: visible }, posting)) enqueueReconciliation(storage);
}

function postingOfActivity({ state, block, changes, signer, wallet, fee }: Activity): Posting | null {
  if (state === 'FAILED' || block === null) return null;
  return {
    blockNumber: block.number,
    isFinal: block.isFinal,
    lines: balanceLines(changes, signer === wallet ? fee : null),
  };
}

function postingOfTransaction({ inclusion }: Transaction): Posting | null {
  if (inclusion === null) return null;
  const { blockNumber, finalized, changes, feePaid } = inclusion;
  return { blockNumber, isFinal: finalized, lines: balanceLines(changes, feePaid) };
}

/** Whether there is something to say, and to whom, is looked at when it is said: by then it may be over. */
function enqueueNotification(storage: VaultStorage, { id, version }: Activity | Transaction): void {
  if (!storage.notificationsEnabled) return;
  const dueAtMs = Date.now() + PROJECTION_DELAY_MS;
  storage.enqueueJob({ transactionId: id, job: 'notify', version, dueAtMs, tries: 0 });
}

/** The comparison that is due first. */
export function enqueueReconciliation(storage: VaultStorage): void {
  const dueAtMs = storage.balances.nextDueAtMs();
  if (dueAtMs !== null) storage.enqueueJob({ transactionId: '', job: 'reconcile', version: 0, dueAtMs, tries: 0 });
}

/** A look that found nothing new, or a 'not now', decides when the same job is due again. */
export function rescheduleAfter(
  storage: VaultStorage,
  report: { readonly event: TransactionEvent; readonly transaction: Transaction; readonly chain: Chain | null },
  nowMs: number,
): void {
  const { event, transaction, chain } = report;
  const job = outstandingJob(transaction);
  const row = job === null ? null : storage.queuedJob(transaction.id, job);
  if (row === null) return;
  const { version } = transaction;
  if (row.job === 'confirm' && ['include', 'miss', 'send'].includes(event.type)) {
    const delayMs = isWatchedAfterFailure(transaction)
      ? watchDelayMs(transaction.watchedSinceMs ?? nowMs, nowMs)
      : pollDelayMs(transaction, chain?.pollIntervalMs ?? 0, nowMs);
    const dueAtMs = nowMs + delayMs;
    storage.enqueueJob({ ...row, version, dueAtMs, tries: 0 });
  } else if (isRetryLater(event, row.job)) {
    storage.enqueueJob({ ...row, version, dueAtMs: nowMs + retryDelayMs(row) });
  }
}

function isRetryLater(event: TransactionEvent, job: OutboxJob): boolean {
  if (event.type === 'send') return event.outcome === 'unknown' || event.outcome === 'undecided';
  return event.type === 'delaySigning' || (event.type === 'waitForNonce' && job === 'sign');
}

function schedule(storage: VaultStorage, transaction: Transaction, effects: readonly Effect[]): void {
  const { id: transactionId, version } = transaction;
  for (const { type, job } of effects) {
    if (type === 'finish') storage.completeJob(transactionId, job);
    else {
      const dueAtMs = job === 'expire' ? transaction.intent.expiresAtMs : transaction.updatedAtMs;
      storage.enqueueJob({ transactionId, job, version, dueAtMs, tries: 0 });
    }
  }
}

function appendHistory(
  storage: VaultStorage,
  change: { readonly before: Transaction | null; readonly after: Transaction; readonly cause: Cause },
): void {
  const { before, after, cause } = change;
  storage.appendHistory({
    transactionId: after.id,
    version: after.version,
    action: cause.action,
    actor: cause.actor,
    from: before?.state ?? null,
    to: after.state,
    reason: after.stateReason,
    digest: after.digest,
    detail: detailOf(after, cause),
    atMs: after.updatedAtMs,
  });
  enqueueProjection(storage, after.id, after.version);
}

/** Which device gave a voice; the newest bytes, once there are any; of a message its signature. */
function detailOf(after: Transaction, { action }: Cause): string | null {
  const attempt = newestAttempt(after);
  if (attempt !== null) return `${attempt.number}:${attempt.signed?.hash ?? attempt.signingDigest}`;
  return action === 'approve' ? (after.approvals.at(-1)?.device?.keyId ?? null) : after.signature;
}

function enqueueProjection(storage: VaultStorage, transactionId: string, version: number): void {
  const dueAtMs = Date.now() + PROJECTION_DELAY_MS;
  storage.enqueueJob({ transactionId, job: 'project', version, dueAtMs, tries: 0 });
}
