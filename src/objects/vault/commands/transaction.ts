import { findChain } from '#chains/families/registry.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { mayCancelTransaction, mayHide } from '#domain/transaction/approvals.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { AssetRef, AssetAmount } from '#domain/asset/exposure.ts';
import type { TransactionId } from '#domain/id.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { TransactionJob, UnknownEndReason } from '#domain/transaction/job.ts';
import { isWatchedAfterFailure, keepsReservation, outstandingJob } from '#domain/transaction/job.ts';
import { authorize } from '#domain/vault/membership.ts';
import type { Permission } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { maxPerAsset } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import { isStoppable, newestAttempt } from '#domain/transaction/transaction.ts';
import type { DecisionContext } from '#domain/transaction/step.ts';
import type { Decision } from '#domain/transaction/transition.ts';
import { decide } from '#domain/transaction/transition.ts';
import { compareAfterCall } from '#objects/vault/writes/call-comparison.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import { checkCreation } from '#objects/vault/writes/creation-check.ts';
import { spendsLocked } from '#objects/vault/commands/utxo-lock.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { CreationView, HeldNonceRecord, TransactionView, TransactionWork } from '#objects/vault/views.ts';
import { adoptionOf } from '#objects/vault/views.ts';
import type { Wallet } from '#objects/vault/wallets.ts';
import { pruneRecord } from '#objects/vault/writes/pruning.ts';
import { rescheduleAfter, writeCreation, writeDecision } from '#objects/vault/writes/vault-writes.ts';

/**
 * The commands with which members create transactions and decide on them, and with which the
 * consumers report the outcome. Each reads the record once and decides once, in the same turn as
 * the commit.
 */

/** A request about one transaction. */
interface About {
  readonly id: TransactionId;
}

/**
 * Creates a transaction, or returns what the same Idempotency-Key created before.
 *
 * Refuses, in order: `forbidden`, `idempotency-key-reused`, `external-id-taken`,
 * `chain-not-enabled`, `wallet-not-ready`, `too-many-pending`, `recipient-is-token`,
 * `recipient-looks-alike`, `max-fee-above-cap`, `policy-forbids`.
 */
export async function createTransaction(
  context: VaultContext,
  actor: Actor,
  { request }: { readonly request: CreationRequest },
): Promise<Result<CreationView, Refusal>> {
  const checked = previewCreation(context, actor, { request });
  if (!checked.ok || checked.value.replayed) return checked;
  const { storage, commits } = context;
  const { view } = checked.value;
  await commits.run(() => {
    if (request.idempotency !== null) storage.saveIdempotent(actor.userId, request.idempotency, view.transaction);
    writeCreation(storage, view.transaction, { action: 'create', actor });
  });
  return checked;
}

/**
 * Returns what `createTransaction` would do now, without doing it: the transaction is not stored,
 * and its id is never used. The caller can check its outcome on its chain before anything is
 * stored. Refuses as `createTransaction` does.
 */
export function previewCreation(
  { storage, chains, vault: vaultNow }: VaultContext,
  actor: Actor,
  { request }: { readonly request: CreationRequest },
): Result<CreationView, Refusal> {
  const authorized = authorize(vaultNow(), actor, 'create');
  if (!authorized.ok) return authorized;
  const { vault, viewer } = authorized.value;
  const checked = checkCreation({ storage, chains, vault, actor, nowMs: Date.now() }, request);
  if (!checked.ok) return checked;
  const { transaction, replayed } = checked.value;
  return accepted({ view: { transaction, policy: vault.policy, viewer }, replayed });
}

/**
 * Cancels a transaction. One of which nothing is signed ends: its job releases the nonce, or uses
 * it up when others wait above it. For one that waits to be mined, an attempt without effect takes
 * its nonce. A signer may cancel an approved transaction, as a signer may reject a pending one.
 * Refuses, in order: `forbidden`, `transaction-not-found`, `transaction-not-pending`,
 * `end-not-unknown`.
 *
 * `acknowledged`: the caller knows that the transaction may still be included, and ends it for this
 * reason without a cancellation.
 */
export async function cancel(
  context: VaultContext,
  actor: Actor,
  { id, acknowledged }: About & { readonly acknowledged: UnknownEndReason | null },
): Promise<Result<TransactionView, Refusal>> {
  const found = findTransaction(context, actor, { id, permission: 'view' });
  if (!found.ok) return found;
  const { transaction, viewer, policy } = found.value;
  const hasEnded = isWatchedAfterFailure(transaction) && transaction.stateReason === acknowledged;
  if (hasEnded) return found;
  // A signer who has cancelled it may repeat the request.
  const isRepeated = transaction.state === 'CANCELLED' && acknowledged === null;
  const isSigner = hasPermission(viewer, 'decide');
  const may = mayCancelTransaction(viewer, transaction, policy) || (isRepeated && isSigner);
  // In device mode a signer stops it by a rejection, which a device signs.
  if (!may && isSigner && isStoppable(transaction)) return refused({ code: 'device-signature-required' });
  if (!may) return refused({ code: 'forbidden' });
  if (isRepeated) return found;
  if (acknowledged !== null)
    return decideFor(context, found.value, { type: 'endUnknown', actor, reason: acknowledged });
  const cancelled = await decideFor(context, found.value, { type: 'cancel', actor });
  return cancelled.ok ? endWithoutChain(context, cancelled.value) : cancelled;
}

/** Ends a transaction that is being stopped and whose chain the configuration no longer has. */
export async function endWithoutChain(
  context: VaultContext,
  view: TransactionView,
): Promise<Result<TransactionView, Refusal>> {
  // No job runs for such a chain.
  const hasJob = findChain(context.chains, view.transaction.chain) !== null;
  return hasJob ? accepted(view) : decideFor(context, view, { type: 'cancelUnsigned' });
}

/**
 * Requests another attempt at the same nonce for a higher fee, as a signer. Refuses, in order:
 * `forbidden`, `transaction-not-found`, `transaction-not-broadcast`.
 */
export async function speedUp(
  context: VaultContext,
  actor: Actor,
  { id }: About,
): Promise<Result<TransactionView, Refusal>> {
  const found = findTransaction(context, actor, { id, permission: 'decide' });
  return found.ok ? decideFor(context, found.value, { type: 'speedUp', actor }) : found;
}

/**
 * Sets for all members whether lists show a transaction. Refuses, in order: `forbidden` without the
 * role, `transaction-not-found`, `forbidden` for hiding that `mayHide` does not allow.
 */
export async function setTransactionVisibility(
  context: VaultContext,
  actor: Actor,
  { id, visible }: About & { readonly visible: boolean },
): Promise<Result<TransactionView, Refusal>> {
  const found = findTransaction(context, actor, { id, permission: 'curate' });
  if (!found.ok) return found;
  const { viewer, transaction } = found.value;
  if (!visible && !mayHide(viewer, transaction)) return refused({ code: 'forbidden' });
  return decideFor(context, found.value, { type: 'setVisibility', actor, visible });
}

/**
 * Removes approvals from pending transactions that count no more, under a new policy or because
 * access was disabled; runs inside a commit.
 */
export function dropStaleApprovals(
  context: VaultContext,
  { policy, disabledAccess }: Pick<Vault, 'policy' | 'disabledAccess'>,
): void {
  for (const pending of context.storage.pendingTransactions()) {
    writeStep(context, stepOf(context, pending, { type: 'dropVotes', policy, disabledAccess }));
  }
}

/** Expires a transaction if the time of its decision is over. */
export async function expireTransaction(context: VaultContext, id: string): Promise<void> {
  const transaction = context.storage.transaction(id);
  if (transaction !== null) await commit(context, stepOf(context, transaction, { type: 'expire' }));
}

/** Deletes a draft that was cancelled a month ago, unless a signer ever approved it. Idempotent. */
export async function pruneTransaction({ storage, commits }: VaultContext, id: string): Promise<void> {
  const transaction = storage.transaction(id);
  await commits.run(() => {
    if (transaction !== null && storage.retention.mayPrune(transaction)) pruneRecord(storage, transaction, Date.now());
    else storage.completeJob(id, 'prune');
  });
}

/**
 * Records an event of the consumers, and returns the record afterwards. Late and repeated reports
 * change nothing, and neither do bytes that spend a locked UTXO.
 */
export async function recordEvent(
  context: VaultContext,
  { id, event }: About & { readonly event: TransactionEvent },
): Promise<Transaction | null> {
  const transaction = context.vault() === null ? null : context.storage.transaction(id);
  if (transaction !== null && spendsLocked(context, transaction, event)) return transaction;
  return transaction === null ? null : commit(context, stepOf(context, transaction, withOwner(context, event)));
}

/** Returns the event with whether the transactions that took a nonce are the vault's own. */
function withOwner({ storage }: VaultContext, event: TransactionEvent): TransactionEvent {
  if (event.type !== 'miss' || event.takenBy === undefined || event.takenBy.length === 0) return event;
  const isTakenByOwn = event.takenBy.every((hash) => storage.activities.ownTransaction(hash) !== null);
  return { ...event, isTakenByOwn };
}

/** Returns a transaction. Refuses, in order: `forbidden`, `transaction-not-found`. */
export function findTransaction(
  { storage, vault }: VaultContext,
  actor: Actor,
  { id, permission }: About & { readonly permission: Permission },
): Result<TransactionView, Refusal> {
  const authorized = authorize(vault(), actor, permission);
  if (!authorized.ok) return authorized;
  const transaction = storage.transaction(id);
  // Activities can only be read.
  const activity = transaction === null ? storage.activities.read(id) : null;
  if (activity !== null) return refused({ code: 'transaction-not-pending', state: activity.state });
  if (transaction === null) return refused({ code: 'transaction-not-found' });
  return accepted({ transaction, policy: authorized.value.vault.policy, viewer: authorized.value.viewer });
}

/** Does what a member requests, or refuses it. */
async function decideFor(
  context: VaultContext,
  view: TransactionView,
  event: TransactionEvent,
): Promise<Result<TransactionView, Refusal>> {
  const decided = decide(view.transaction, event, decisionContext(context));
  if (!decided.ok) return decided;
  const transaction = await commit(context, { before: view.transaction, event, decision: decided.value });
  return accepted({ ...view, transaction });
}

/** A decided event: the record before it, and the decision. */
interface DecidedStep {
  readonly before: Transaction;
  readonly event: TransactionEvent;
  readonly decision: Decision;
}

/** Decides on an event that is never refused. */
function stepOf(context: VaultContext, before: Transaction, event: TransactionEvent): DecidedStep {
  const decided = decide(before, event, decisionContext(context));
  if (!decided.ok) throw new Error(`an event that must not be refused was refused: ${decided.refusal.code}`);
  return { before, event, decision: decided.value };
}

/** Commits a step in the turn of its decision. Returns the record afterwards. */
export async function commit(context: VaultContext, step: DecidedStep): Promise<Transaction> {
  await context.commits.run(() => writeStep(context, step));
  return step.decision.transaction;
}

/** Writes record, effects and history; runs inside a commit. */
function writeStep(context: VaultContext, { before, event, decision }: DecidedStep): void {
  const { storage, chains, changes } = context;
  const { transaction, changed } = decision;
  const { rules } = decisionContext(context).policy;
  writeDecision(storage, before, { ...decision, rules, cause: { action: event.type, actor: actorOf(event) } });
  if (changed) changes.wake(transaction.id);
  const chain = findChain(chains, transaction.chain);
  if (changed) compareAfterCall(storage, { before, after: transaction, chain });
  rescheduleAfter(storage, { event, transaction, chain }, Date.now());
}

function actorOf(event: TransactionEvent): Actor | null {
  return 'actor' in event ? event.actor : null;
}

/** Returns the job with all that the consumers need, or null when it is not pending. */
export function transactionWork(
  context: VaultContext,
  { id, job }: About & { readonly job: TransactionJob },
): TransactionWork | null {
  const { storage, chains } = context;
  const vault = context.vault();
  const transaction = vault === null ? null : storage.transaction(id);
  if (vault === null || transaction === null || outstandingJob(transaction) !== job) return null;
  const chain = findChain(chains, transaction.chain);
  const key = vault.keys.find((candidate) => transaction.chain in candidate.addresses);
  if (chain === null || key === undefined) return null;
  return { transaction, chain, key, adoption: adoptionOf(vault) };
}

/**
 * Returns the transactions of a wallet whose nonces its allocator must not give to others, for
 * the consumers.
 */
export function heldNonces(context: VaultContext, { chain, address }: Wallet): readonly HeldNonceRecord[] {
  if (context.vault() === null) return [];
  return context.storage.transactionsWithNonces().flatMap((transaction) => {
    const { id: transactionId, intent, inclusion } = transaction;
    const isOfWallet = transaction.chain === chain && intent.from === address;
    if (!isOfWallet) return [];
    const { nonce = null, payload = null } = newestAttempt(transaction) ?? {};
    const { blockNumber: includedIn = null, isFinalForOneNode = false } = inclusion ?? {};
    const hasEnded = keepsReservation(transaction);
    const amounts = hasEnded ? [] : spendingOfAttempts(transaction);
    const bytes = isFinalForOneNode ? payload : null;
    return [{ transactionId, nonce, amounts, includedIn, isFinalForOneNode, hasEnded, payload: bytes }];
  });
}

/**
 * A fork removes recent blocks. RPC nodes without the history of older ones would seem to deny
 * them. Both are ours.
 */
const MAX_FINAL = 100;
const RECENT_MS = 24 * 60 * 60 * 1000;

/** Returns recent transactions of a wallet that ended in a final block, the newest first. */
export function finalTransactions(context: VaultContext, { chain, address }: Wallet): readonly Transaction[] {
  if (context.vault() === null) return [];
  const isRecent = ({ updatedAtMs }: Transaction) => Date.now() - updatedAtMs < RECENT_MS;
  const newest = context.storage.newestFinal(MAX_FINAL).filter(isRecent);
  return newest.filter(({ chain: name, intent }) => name === chain && intent.from === address);
}

export function decisionContext({ storage, vault: vaultNow }: VaultContext): DecisionContext {
  const vault = vaultNow();
  if (vault === null) throw new Error('the vault was not created, so it has no transactions');
  const nowMs = Date.now();
  return { nowMs, policy: vault.policy, spentOf: (asset: AssetRef) => storage.policies.spentOf(asset, nowMs) };
}

/**
 * Returns the largest amount of each asset among the attempts, because any of them may be included.
 */
function spendingOfAttempts({ intent, attempts }: Transaction): readonly AssetAmount[] {
  if (intent.kind === 'message') return [];
  const each = attempts.map(({ purpose, maxFee }) => spendingOf(actionOfAttempt(intent, purpose), unitsOf(maxFee)));
  return each.reduce((all, amounts) => maxPerAsset(all, amounts), []);
}
