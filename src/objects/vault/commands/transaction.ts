import { findChain } from '#chains/registry.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { isRepeatedDecision } from '#domain/transaction/approvals.ts';
import { deviceSignatureRefusal } from '#devices/device-signature.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { AssetRef, AssetAmount } from '#domain/transaction/exposure.ts';
import type { TransactionId } from '#domain/id.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { TransactionJob, UnknownEndReason } from '#domain/transaction/job.ts';
import { isWatchedAfterFailure, outstandingJob } from '#domain/transaction/job.ts';
import type { Permission } from '#domain/access/member.ts';
import { mayCancelTransaction } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Refusal } from '#domain/refusal.ts';
import { maxPerAsset } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor, Transaction } from '#domain/transaction/transaction.ts';
import { isPending, newestAttempt } from '#domain/transaction/transaction.ts';
import type { DecisionContext } from '#domain/transaction/step.ts';
import { decide } from '#domain/transaction/transition.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import { checkCreation } from '#objects/vault/writes/creation-check.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type {
  ChallengeView,
  CreationView,
  HeldNonceRecord,
  TransactionView,
  TransactionWork,
  ApprovalOutcome,
} from '#objects/vault/views.ts';
import { adoptionOf } from '#objects/vault/views.ts';
import type { Wallet } from '#objects/vault/wallets.ts';
import { rescheduleAfter, writeCreation, writeDecision } from '#objects/vault/writes/vault-writes.ts';

type PersonalEvent = Extract<TransactionEvent, { readonly actor: Actor }>;

/**
 * The commands with which members create transactions and decide on them, and with which the
 * consumers report the outcome.
 */
export class TransactionCommands {
  readonly #host: VaultContext;

  constructor(host: VaultContext) {
    this.#host = host;
  }

  /**
   * Creates a transaction, or returns what the same Idempotency-Key created before.
   *
   * Refuses, in order: `forbidden`, `idempotency-key-reused`, `external-id-taken`,
   * `chain-not-enabled`, `wallet-not-ready`, `too-many-pending`, `recipient-looks-alike`,
   * `policy-forbids`.
   */
  async create(actor: Actor, request: CreationRequest): Promise<Result<CreationView, Refusal>> {
    const rehearsed = this.previewCreation(actor, request);
    if (!rehearsed.ok) return rehearsed;
    const { view, replayed } = rehearsed.value;
    if (replayed) return accepted({ view, replayed });
    const { transaction } = view;
    await this.#host.commits.run(() => {
      if (request.idempotency !== null)
        this.#host.storage.saveIdempotent(actor.userId, request.idempotency, transaction);
      writeCreation(this.#host.storage, transaction, { action: 'create', actor });
    });
    return accepted({ view, replayed: false });
  }

  /**
   * Returns what `create` would do now, without doing it: the transaction is not stored, and its id
   * is never used. The caller can check its outcome on its chain before anything is stored. Refuses
   * as `create` does.
   */
  previewCreation(actor: Actor, request: CreationRequest): Result<CreationView, Refusal> {
    const entered = this.#host.authorize(actor, 'create');
    if (!entered.ok) return entered;
    const { vault, viewer } = entered.value;
    const scope = { storage: this.#host.storage, chains: this.#host.chains, vault, actor, nowMs: Date.now() };
    const rehearsed = checkCreation(scope, request);
    if (!rehearsed.ok) return rehearsed;
    const { transaction, replayed } = rehearsed.value;
    return accepted({ view: { transaction, policy: vault.policy, viewer }, replayed });
  }

  /** Returns a transaction. Refuses, in order: `forbidden`, `transaction-not-found`. */
  read(actor: Actor, id: TransactionId): Result<TransactionView, Refusal> {
    return this.#find(actor, id, 'view');
  }

  /**
   * Returns what a signer approves. Refuses, in order: `forbidden`, `transaction-not-found`,
   * `transaction-not-pending`.
   */
  challenge(actor: Actor, id: TransactionId): Result<ChallengeView, Refusal> {
    const found = this.#find(actor, id, 'decide');
    if (!found.ok) return found;
    const { state, intent } = found.value.transaction;
    if (!isPending(state)) return refused({ code: 'transaction-not-pending', state });
    if (Date.now() >= intent.expiresAtMs) return refused({ code: 'transaction-not-pending', state: 'EXPIRED' });
    return accepted({ ...found.value, keys: this.#host.vault()?.keys ?? [] });
  }

  /**
   * Records an approval of the intent as it was created, with a device signature if the vault
   * counts no others. A repetition changes nothing. Refuses as `challenge` does, and what
   * `deviceSignatureRefusal` refuses.
   */
  async approve(
    actor: Actor,
    id: TransactionId,
    device: DeviceSignature | null,
  ): Promise<Result<ApprovalOutcome, Refusal>> {
    const found = this.#find(actor, id, 'decide');
    if (!found.ok) return found;
    const { transaction, policy } = found.value;
    const { digest } = transaction;
    // Verifying the signature awaits, so other decisions can land meanwhile. All other checks run
    // after it.
    const signatureRefusal = await deviceSignatureRefusal({ actor, digest, device }, policy);
    if (this.#host.vault()?.policy !== policy) return this.approve(actor, id, device);
    return this.#addDecision(actor, id, { event: { type: 'approve', actor, digest, device }, signatureRefusal });
  }

  /**
   * Rejects a pending transaction permanently, whatever its approvals. Refuses as `challenge` does.
   */
  reject(actor: Actor, id: TransactionId): Promise<Result<ApprovalOutcome, Refusal>> {
    return this.#addDecision(actor, id, { event: { type: 'reject', actor }, signatureRefusal: null });
  }

  /**
   * Cancels a pending transaction. For one that waits to be mined, an attempt without effect takes
   * its nonce. A signer may cancel a broadcast transaction, as a signer may reject a pending one.
   * Refuses, in order: `forbidden`, `transaction-not-found`, `transaction-not-pending`,
   * `end-not-unknown`.
   *
   * @param acknowledged the caller knows that the transaction may still be included, and ends it
   *   for this reason without a cancellation
   */
  async cancel(
    actor: Actor,
    id: TransactionId,
    acknowledged: UnknownEndReason | null = null,
  ): Promise<Result<TransactionView, Refusal>> {
    const found = this.#find(actor, id, 'view');
    if (!found.ok) return found;
    const { transaction, viewer } = found.value;
    const hasEnded = isWatchedAfterFailure(transaction) && transaction.stateReason === acknowledged;
    if (hasEnded) return found;
    if (!mayCancelTransaction(viewer, transaction)) return refused({ code: 'forbidden' });
    if (acknowledged !== null) return this.#decided(found.value, { type: 'endUnknown', actor, reason: acknowledged });
    return transaction.state === 'CANCELLED' ? found : this.#decided(found.value, { type: 'cancel', actor });
  }

  /**
   * Requests another attempt at the same nonce for a higher fee. Refuses, in order: `forbidden`,
   * `transaction-not-found`, `transaction-not-broadcast`.
   */
  async speedUp(actor: Actor, id: TransactionId): Promise<Result<TransactionView, Refusal>> {
    const found = this.#find(actor, id, 'create');
    return found.ok ? this.#decided(found.value, { type: 'speedUp', actor }) : found;
  }

  /**
   * Sets for all members whether lists show a transaction. Refuses, in order: `forbidden`,
   * `transaction-not-found`.
   */
  async setVisibility(actor: Actor, id: TransactionId, visible: boolean): Promise<Result<TransactionView, Refusal>> {
    const found = this.#find(actor, id, 'curate');
    return found.ok ? this.#decided(found.value, { type: 'setVisibility', actor, visible }) : found;
  }

  /**
   * Removes approvals that do not count under a new policy from pending transactions; runs inside a
   * commit.
   */
  dropStaleApprovals(policy: Policy): void {
    for (const pending of this.#host.storage.pendingTransactions()) {
      this.#write(pending, { type: 'dropVotes', policy }, null);
    }
  }

  /** Expires a transaction if the time of its decision is over. */
  async expire(id: string): Promise<void> {
    const transaction = this.#host.storage.transaction(id);
    if (transaction !== null) await this.#apply(transaction, { type: 'expire' }, null);
  }

  /**
   * Records an event of the consumers, and returns the record afterwards. Late and repeated reports
   * change nothing.
   */
  async record(id: TransactionId, event: TransactionEvent): Promise<Transaction | null> {
    const transaction = this.#host.vault() === null ? null : this.#host.storage.transaction(id);
    if (transaction === null) return null;
    return this.#apply(transaction, event, null);
  }

  #find(actor: Actor, id: TransactionId, permission: Permission): Result<TransactionView, Refusal> {
    const entered = this.#host.authorize(actor, permission);
    if (!entered.ok) return entered;
    const transaction = this.#host.storage.transaction(id);
    // Activities can only be read.
    const activity = transaction === null ? this.#host.storage.activities.read(id) : null;
    if (activity !== null) return refused({ code: 'transaction-not-pending', state: activity.state });
    if (transaction === null) return refused({ code: 'transaction-not-found' });
    return accepted({ transaction, policy: entered.value.vault.policy, viewer: entered.value.viewer });
  }

  async #addDecision(
    actor: Actor,
    id: TransactionId,
    { event, signatureRefusal }: { readonly event: TransactionEvent; readonly signatureRefusal: Refusal | null },
  ): Promise<Result<ApprovalOutcome, Refusal>> {
    const found = this.#find(actor, id, 'decide');
    if (!found.ok) return found;
    const { transaction, policy, viewer } = found.value;
    const decided = decide(transaction, event, this.#context());
    if (!decided.ok) {
      return isRepeatedDecision(transaction, event) ? accepted({ view: found.value, changed: false }) : decided;
    }
    if (signatureRefusal !== null) return refused(signatureRefusal);
    const after = await this.#apply(transaction, event, actor);
    return accepted({ view: { transaction: after, policy, viewer }, changed: decided.value.changed });
  }

  /** Applies a member's request, or refuses it. */
  async #decided(view: TransactionView, event: PersonalEvent): Promise<Result<TransactionView, Refusal>> {
    const decided = decide(view.transaction, event, this.#context());
    if (!decided.ok) return decided;
    const transaction = await this.#apply(view.transaction, event, event.actor);
    return accepted({ ...view, transaction });
  }

  async #apply(transaction: Transaction, event: TransactionEvent, actor: Actor | null): Promise<Transaction> {
    let after = transaction;
    await this.#host.commits.run(() => {
      after = this.#write(transaction, event, actor);
    });
    return after;
  }

  /**
   * Decides, and writes record, effects and history; runs inside a commit. Returns the record
   * afterwards.
   */
  #write(transaction: Transaction, event: TransactionEvent, actor: Actor | null): Transaction {
    const context = this.#context();
    const decided = decide(transaction, event, context);
    if (!decided.ok) throw new Error(`a refusal must be answered before it is applied: ${decided.refusal.code}`);
    const after = decided.value.transaction;
    writeDecision(this.#host.storage, transaction, { ...decided.value, cause: { action: event.type, actor } });
    if (decided.value.changed) this.#host.changes.wake(after.id);
    const chain = findChain(this.#host.chains, after.chain);
    rescheduleAfter(this.#host.storage, { event, transaction: after, chain }, context.nowMs);
    return after;
  }

  /** Returns the job with all that the consumers need, or null when it is not pending. */
  work(id: TransactionId, job: TransactionJob): TransactionWork | null {
    const { storage, chains } = this.#host;
    const vault = this.#host.vault();
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
  heldNonces({ chain, address }: Wallet): readonly HeldNonceRecord[] {
    if (this.#host.vault() === null) return [];
    return this.#host.storage.transactionsWithNonces().flatMap((transaction) => {
      const { id: transactionId, intent, inclusion } = transaction;
      const isOfWallet = transaction.chain === chain && intent.from === address;
      if (!isOfWallet) return [];
      const nonce = newestAttempt(transaction)?.nonce ?? null;
      const { blockNumber: includedIn = null, isFinalForOneNode = false } = inclusion ?? {};
      return [{ transactionId, nonce, amounts: spendingOfAttempts(transaction), includedIn, isFinalForOneNode }];
    });
  }

  #context(): DecisionContext {
    const vault = this.#host.vault();
    if (vault === null) throw new Error('a vault that was not created has no transactions');
    const nowMs = Date.now();
    const spentOf = (asset: AssetRef) => this.#host.storage.policies.spentOf(asset, nowMs);
    return { nowMs, policy: vault.policy, spentOf };
  }
}

/**
 * Returns the largest amount of each asset among the attempts, because any of them may be included.
 */
function spendingOfAttempts({ intent, attempts }: Transaction): readonly AssetAmount[] {
  if (intent.kind === 'message') return [];
  const each = attempts.map(({ purpose, maxFee }) => spendingOf(actionOfAttempt(intent, purpose), unitsOf(maxFee)));
  return each.reduce((all, amounts) => maxPerAsset(all, amounts), []);
}
