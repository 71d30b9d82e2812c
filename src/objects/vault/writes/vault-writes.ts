import { randomBytes } from '@noble/hashes/utils.js';
import type { Activity } from '#domain/activity/activity.ts';
import { isWatched } from '#domain/activity/activity.ts';
import { isFinalRecord } from '#domain/activity/correction.ts';
import { showsAsset } from '#domain/activity/shown-part.ts';
import { counterpartiesOf } from '#chains/inspect/counterparties.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import { isWatchedAfterFailure, outstandingJob } from '#domain/transaction/job.ts';
import type { Inclusion, Transaction } from '#domain/transaction/transaction.ts';
import { type Actor, type Operator, operatorText } from '#domain/access/approval.ts';
import { CONTENTS_CORRECTED, FINAL_BLOCK_GONE } from '#domain/transaction/inclusion.ts';
import { isFinal, isUnsigned, newestAttempt, spends } from '#domain/transaction/transaction.ts';
import type { Decision, Effect } from '#domain/transaction/transition.ts';
import { effectsOfCreation } from '#domain/transaction/transition.ts';
import type { Rules } from '#domain/policy/rules.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { isNotified } from '#domain/activity/vault-notification.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Posting } from '#domain/asset/balance.ts';
import { balanceLines } from '#domain/asset/balance.ts';
import type { Asset } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { enqueueMissingKeys } from '#objects/vault/writes/key-jobs.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { OutboxJob } from '#objects/outbox.ts';
import {
  OMITTED_PAUSE_MS,
  OMITTED_POLL_MS,
  VALUATION_DELAY_MS,
  pollDelayMs,
  PROJECTION_DELAY_MS,
  retryDelayMs,
  watchDelayMs,
} from '#objects/outbox.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { schedulePruning } from '#objects/vault/writes/pruning.ts';
import { walletsOf } from '#objects/vault/wallets.ts';

/**
 * The cause of a change of a record: the event's name, and the user behind it (null for the service
 * itself).
 */
export interface Cause {
  readonly action: string;
  readonly actor: Actor | null;
}

/** Reasons that contradict an outcome of which members were notified. */
const REVISIONS: ReadonlySet<string | null> = new Set([FINAL_BLOCK_GONE, CONTENTS_CORRECTED]);

/** Writes a new record: its row, its first audit entry, its job and its projection. */
export function writeCreation(storage: VaultStorage, transaction: Transaction, cause: Cause): void {
  storage.insertTransaction(transaction);
  appendHistory(storage, { before: null, after: transaction, cause });
  schedule(storage, transaction, effectsOfCreation(transaction));
  notifyOfRecord(storage, transaction);
}

/**
 * Writes a decision with all its consequences. Writes nothing when the decision changed nothing.
 * `rules`: those in force, by which decided spending counts.
 */
export function writeDecision(
  storage: VaultStorage,
  before: Transaction,
  written: Decision & { readonly cause: Cause; readonly rules: Rules },
): void {
  const { transaction: after, changed, effects, cause, rules } = written;
  if (!changed) return;
  storage.updateTransaction(before, after);
  const [spent, isSpent] = [spends(before.state), spends(after.state)];
  if (isSpent && !spent) storage.policies.addSpent(after, rules, after.updatedAtMs);
  if (isSpent && !isUnsigned(after) && (!spent || isUnsigned(before))) {
    storage.policies.dateSpent(after.id, after.updatedAtMs);
  }
  if (!isSpent && spent) storage.policies.removeSpent(after.id);
  if (after.inclusion !== before.inclusion) post(storage, after, postingOfTransaction(after), () => after.visible);
  // Only a successful transaction makes an address known: a proposal does not.
  if (after.state === 'SUCCEEDED' && before.state !== 'SUCCEEDED') {
    storage.addCounterparties(counterpartiesOf(after.intent));
  }
  appendHistory(storage, { before, after, cause });
  if (cause.action === 'correct') logCorrection(after);
  schedule(storage, after, effects);
  const isRevised = after.stateReason !== before.stateReason && REVISIONS.has(after.stateReason);
  if ((after.state !== before.state && isFinal(after.state)) || isRevised) notifyOfRecord(storage, after);
  if (after.state !== before.state) schedulePruning(storage, after);
}

export interface VaultChange {
  readonly action: string;
  readonly detail: string | null;
  /** The line names the service key of an operator. Null for the service itself. */
  readonly actor: Actor | Operator | null;
  /** The digest of the policy in force when the change has none of its own. */
  readonly digest?: string;
  readonly reason?: string;
}

/** Writes one audit entry for a change of members, policy or keys. */
export function writeVaultChange(storage: VaultStorage, vault: Vault, change: VaultChange): void {
  const { actor: by, ...line } = change;
  const isOperator = by !== null && 'serviceKey' in by;
  storage.history.append({
    transactionId: null,
    version: 0,
    from: null,
    to: null,
    reason: null,
    actor: isOperator ? null : by,
    digest: policyHashOf(vault.policy),
    ...line,
    ...(isOperator ? { reason: operatorText(by) } : {}),
    atMs: Date.now(),
  });
  storage.enqueueDirectory(Date.now() + PROJECTION_DELAY_MS);
  if (isNotified(line.action)) notifyOfNewestLine(storage, vault);
}

/**
 * Enqueues the notification of the newest history entry. No record has the id of the row. Its
 * version is the number of the entry.
 */
export function notifyOfNewestLine(storage: VaultStorage, { id }: Vault): void {
  const subject = newTransactionId(id, Date.now(), randomBytes(10));
  enqueueNotification(storage, { id: subject, version: storage.history.length() });
}

/** Writes the new state of the vault, with its missing keys and balances. */
export function writeVault(storage: VaultStorage, after: Vault, chains: readonly Chain[]): void {
  storage.putVault(after);
  enqueueMissingKeys(storage, after, chains);
  const opened = walletsOf(after).filter(({ chain }) => storage.balances.open({ chain, ...NATIVE }, true));
  if (opened.length > 0) enqueueReconciliation(storage);
}

/** Writes everything for a new vault. */
export function writeNewVault(
  storage: VaultStorage,
  vault: Vault,
  { chains, operator }: { readonly chains: readonly Chain[]; readonly operator: Operator },
): void {
  storage.createTables();
  storage.putVault(vault);
  storage.policies.adopt({ policy: vault.policy, mandate: null }, policyHashOf(vault.policy));
  writeVaultChange(storage, vault, { action: 'found', detail: null, actor: operator });
  enqueueMissingKeys(storage, vault, chains);
}

export interface ActivityChange extends Omit<Cause, 'action'> {
  readonly before: Activity | null;
  /** The same object when nothing changed. */
  readonly after: Activity;
  readonly action: string;
}

/**
 * Writes the result of a poll: the time of the next one, and after a change the row, audit entry
 * and projection.
 */
export function writeActivity(
  storage: VaultStorage,
  change: ActivityChange,
  chain: Pick<Chain, 'pollIntervalMs' | 'tokens'>,
): void {
  const { before, after, action, actor } = change;
  const nowMs = Date.now();
  const { id: transactionId, version } = after;
  const wasOmitted = before?.isOmitted === true;
  if (wasOmitted || after.isOmitted === true) scheduleOmitted(storage, after, nowMs);
  if (isWatched(after) && after.isOmitted !== true) {
    const dueAtMs =
      nowMs + (after.block?.isFinal === true ? VALUATION_DELAY_MS : pollDelayMs(after, chain.pollIntervalMs, nowMs));
    storage.enqueueJob({ transactionId, job: 'follow', version, dueAtMs, tries: 0 });
  } else storage.completeJob(transactionId, 'follow');
  if (after === before) return;
  storage.activities.put(after);
  // A listed token is money wherever it comes from.
  const isSeen = (asset: Asset) =>
    showsAsset(after, asset) || (asset.tokenAddress !== null && listedToken(chain, asset.tokenAddress) !== null);
  post(storage, after, postingOfActivity(after), isSeen);
  if (after.isOmitted === true) return;
  if (action === 'correct') logCorrection(after);
  // An omitted payment has no line of the history, so this is its first one.
  const recorded = wasOmitted ? null : before;
  if (needsNotification({ ...change, before: recorded })) notifyOfRecord(storage, after);
  storage.history.append({
    transactionId,
    version,
    action,
    actor,
    from: recorded?.state ?? null,
    to: after.state,
    reason: after.stateReason,
    digest: null,
    detail: action === 'correct' && before !== null ? correctionText(before, after) : after.hash,
    atMs: after.updatedAtMs,
  });
  enqueueProjection(storage, transactionId, version);
}

/**
 * Schedules the next poll of omitted payments. One of a chain is polled at a time, so that any
 * number delays no other poll, and a chain that does not answer delays no other chain.
 */
function scheduleOmitted(storage: VaultStorage, after: Activity, nowMs: number): void {
  const { activities } = storage;
  if (after.isOmitted === true && isWatched(after)) activities.putOmitted(after, nowMs + OMITTED_POLL_MS);
  else activities.deleteOmitted(after.id);
  storage.completeJob(after.id, 'follow-omitted');
  const next = activities.nextOmitted(after.chain);
  if (next === null) return;
  const dueAtMs = Math.max(next.dueAtMs, nowMs + OMITTED_PAUSE_MS);
  storage.enqueueJob({ transactionId: next.id, job: 'follow-omitted', version: 0, dueAtMs, tries: 0 });
}

/** Ours: a history line is short, and a transaction may move any number of assets. */
const MAX_CORRECTED_ASSETS = 20;

function logCorrection({ id, vaultId, chain }: Activity | Transaction): void {
  console.error(JSON.stringify({ event: 'final-record-corrected', vaultId, chain, transactionId: id }));
}

/** Returns what a correction of a final record replaced and by what, for auditors. */
function correctionText(before: Corrected, after: Corrected): string {
  const contentsOf = ({ changes, fee }: Corrected) => ({
    fee,
    changes: changes
      .slice(0, MAX_CORRECTED_ASSETS)
      .map(({ tokenAddress, tokenId, units }) => ({ tokenAddress, tokenId, units })),
  });
  return JSON.stringify({ hash: before.hash, before: contentsOf(before), after: contentsOf(after) });
}

type Corrected = Pick<Activity, 'hash' | 'fee' | 'changes'>;

/**
 * Reports whether members are notified. An unconfirmed transaction may be replaced, so they are
 * notified when it is in a block, and when a rule no longer hides it: a payment that was found
 * beside dust, or a token whose contract could not be read at first.
 */
function needsNotification({ before, after, action }: ActivityChange): boolean {
  if (after.block === null) return false;
  if (before === null || before.block === null || action === 'correct') return true;
  return action === 'observe' && !before.visible && after.visible && before.state !== 'FAILED';
}

function post(
  storage: VaultStorage,
  { id, chain }: Activity | Transaction,
  posting: Posting | null,
  isSeen: (asset: Asset) => boolean,
): void {
  if (storage.balances.post({ recordId: id, chain, isSeen }, posting)) enqueueReconciliation(storage);
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

/** The inbox has no records. So nothing is enqueued where no other way reaches a member. */
function notifyOfRecord(storage: VaultStorage, record: Activity | Transaction): void {
  if (storage.notificationsEnabled) enqueueNotification(storage, record);
}

/**
 * Enqueues a notification. Its content and recipients are determined when it is sent, because it
 * may be obsolete by then.
 */
export function enqueueNotification(
  storage: VaultStorage,
  { id, version }: { readonly id: string; readonly version: number },
): void {
  const dueAtMs = Date.now() + PROJECTION_DELAY_MS;
  storage.enqueueJob({ transactionId: id, job: 'notify', version, dueAtMs, tries: 0 });
}

/** Ours: RPC nodes are not called for a hundred old records at once. */
const RECHECK_PAUSE_MS = 500;

/** Polls final records again, whose contents RPC nodes may have stated falsely. */
export function recheckFinal(storage: VaultStorage, recordIds: readonly string[], nowMs: number): void {
  for (const [index, id] of recordIds.entries()) {
    const activity = storage.activities.read(id);
    if (activity === null || !isFinalRecord(activity) || activity.isOmitted === true) continue;
    // A repeated request postpones no poll.
    if (storage.queuedJob(activity.id, 'follow') !== null) continue;
    const dueAtMs = nowMs + index * RECHECK_PAUSE_MS;
    storage.enqueueJob({ transactionId: activity.id, job: 'follow', version: activity.version, dueAtMs, tries: 0 });
  }
}

/** Enqueues the comparison that is due first. */
export function enqueueReconciliation(storage: VaultStorage): void {
  const dueAtMs = storage.balances.nextDueAtMs();
  if (dueAtMs !== null) storage.enqueueJob({ transactionId: '', job: 'reconcile', version: 0, dueAtMs, tries: 0 });
}

/** Sets the next due time of a job after a poll without changes or a temporary failure. */
export function rescheduleAfter(
  storage: VaultStorage,
  report: { readonly event: TransactionEvent; readonly transaction: Transaction; readonly chain: Chain | null },
  nowMs: number,
): void {
  const { event, transaction, chain } = report;
  const job = outstandingJob(transaction);
  if (job === null) return;
  const isPoll = job === 'confirm' && ['include', 'miss', 'send'].includes(event.type);
  // Most events are neither, and the row is not read for them.
  const row = isPoll || isRetryLater(event, job) ? storage.queuedJob(transaction.id, job) : null;
  if (row === null) return;
  const { version } = transaction;
  if (isPoll) {
    const delayMs = isWatchedAfterFailure(transaction)
      ? watchDelayMs(transaction.watchedSinceMs ?? nowMs, nowMs)
      : pollDelayMs(transaction, chain?.pollIntervalMs ?? 0, nowMs);
    const dueAtMs = nowMs + delayMs;
    storage.enqueueJob({ ...row, version, dueAtMs, tries: 0 });
  } else {
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
  storage.history.append({
    transactionId: after.id,
    version: after.version,
    action: cause.action,
    actor: cause.actor,
    from: before?.state ?? null,
    to: after.state,
    reason: after.stateReason,
    digest: after.digest,
    detail: cause.action === 'correct' ? correctionOf(before?.inclusion, after.inclusion) : detailOf(after, cause),
    atMs: after.updatedAtMs,
  });
  enqueueProjection(storage, after.id, after.version);
}

function correctionOf(before: Inclusion | null | undefined, after: Inclusion | null): string | null {
  if (before === null || before === undefined || after === null) return null;
  return correctionText({ ...before, fee: before.feePaid }, { ...after, fee: after.feePaid });
}

/**
 * Returns the device of an approval; the reason of a rejection; the newest bytes, once there are
 * any; or the signature of a message.
 */
function detailOf(after: Transaction, { action }: Cause): string | null {
  const attempt = newestAttempt(after);
  if (attempt !== null) return `${attempt.number}:${attempt.signed?.hash ?? attempt.signingDigest}`;
  if (action === 'reject') return (after.rejection ?? after.openRejections?.at(-1))?.reason ?? null;
  return action === 'approve' ? (after.approvals.at(-1)?.device?.keyId ?? null) : after.signature;
}

function enqueueProjection(storage: VaultStorage, transactionId: string, version: number): void {
  const dueAtMs = Date.now() + PROJECTION_DELAY_MS;
  storage.enqueueJob({ transactionId, job: 'project', version, dueAtMs, tries: 0 });
}
