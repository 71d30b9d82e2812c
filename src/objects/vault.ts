import { DurableObject } from 'cloudflare:workers';
import { findChain, chainsFrom } from '#chains/registry.ts';
import { isRepeatedVote } from '#domain/approval.ts';
import type { Chain } from '#domain/chain.ts';
import type { TransactionEvent } from '#domain/event.ts';
import type { AssetName } from '#domain/exposure.ts';
import type { PolicyChangeId, TransactionId, UserId } from '#domain/id.ts';
import type { TransactionJob } from '#domain/job.ts';
import { outstandingJob } from '#domain/job.ts';
import type { Member, Permission, Role } from '#domain/member.ts';
import { may, mayStop } from '#domain/member.ts';
import type { PolicyFault } from '#domain/policy.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor, Transaction } from '#domain/transaction.ts';
import { isPending } from '#domain/transaction.ts';
import type { Circumstances } from '#domain/transition.ts';
import { decide } from '#domain/transition.ts';
import type { Vault, VaultKey } from '#domain/vault.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { ChangeSignal } from '#objects/change-signal.ts';
import type { VaultFoundation } from '#objects/membership.ts';
import { foundVault, withMember } from '#objects/membership.ts';
import type { CreationRequest } from '#objects/new-transaction.ts';
import { policyHash } from '#objects/new-transaction.ts';
import type { Proposal } from '#objects/policy-changes.ts';
import { PolicyDesk } from '#objects/policy-desk.ts';
import { rehearse } from '#objects/rehearsal.ts';
import { VaultCommit } from '#objects/vault-commit.ts';
import { drainDue, drainProjection } from '#objects/vault-drain.ts';
import { VaultStorage } from '#objects/vault-storage.ts';
import { withChain, withKey } from '#objects/wallets.ts';
import type {
  KeyWork,
  PolicyChangeView,
  PolicyView,
  TransactionView,
  TransactionWork,
  VaultScope,
  VoteOutcome,
} from '#objects/vault-views.ts';
import { postponeAfter, writeCreation, writeDecision, writeVaultChange } from '#objects/vault-writes.ts';

type PersonalEvent = Extract<TransactionEvent, { readonly actor: Actor }>;

/** An alarm that fails is retried six times and then dropped for good; so it never fails, and comes back after this. */
const ALARM_RETRY_MS = 1_000;

/**
 * One vault: the only writer and the truth of its members, transactions, votes and history. Each command is one synchronous
 * turn with one storage transaction, so two approvals can never both be the last, and a crash keeps all of it or nothing.
 * There is no network in a turn: what has to happen outside is a row of the outbox.
 */
export class VaultObject extends DurableObject<CoordinatorEnv> {
  readonly #storage: VaultStorage;
  readonly #commits: VaultCommit;
  readonly #policies: PolicyDesk;
  readonly #chains: readonly Chain[];
  #vault: Vault | null = null;
  /** Who waits for a transaction to change, by its id. */
  readonly changes = new ChangeSignal();

  constructor(ctx: DurableObjectState, env: CoordinatorEnv) {
    super(ctx, env);
    this.#storage = new VaultStorage(ctx.storage.sql);
    this.#commits = new VaultCommit(ctx.storage, this.#storage);
    this.#policies = new PolicyDesk({
      storage: this.#storage,
      commits: this.#commits,
      vault: () => this.#vault,
      enter: (actor, permission) => this.#enter(actor, permission),
      dropVotes: (transaction, userIds) => this.#write(transaction, { type: 'dropVotes', userIds }, null),
      govern: (vault) => {
        this.#vault = vault;
      },
    });
    this.#chains = chainsFrom(env);
    if (this.#storage.exists()) this.#vault = this.#storage.vault();
  }

  /** Idempotent: a vault that exists answers what it is. Refuses what `policyFault` refuses. */
  async initialise(foundation: VaultFoundation): Promise<Result<Vault, PolicyFault>> {
    if (this.#vault !== null) return accepted(this.#vault);
    const founded = foundVault(foundation);
    if (!founded.ok) return founded;
    const vault = founded.value;
    await this.#commits.run(() => {
      this.#storage.createTables();
      this.#storage.putVault(vault);
      this.#storage.policies.adopt({ policy: vault.policy, mandate: null }, policyHash(vault.policy));
      writeVaultChange(this.#storage, vault, { action: 'found', detail: null, actor: null });
      this.#storage.owe({ transactionId: '', job: 'generate-key', version: 0, dueAtMs: Date.now(), tries: 0 });
    });
    this.#vault = vault;
    return founded;
  }

  describe(): Vault | null {
    return this.#vault;
  }

  /** Gives the person these roles, or takes the person out when there are none. Null when the vault does not exist. */
  async putMember(userId: UserId, roles: readonly Role[]): Promise<Result<Vault, 'needs-quorum'> | null> {
    const changed = this.#vault === null ? null : withMember(this.#vault, userId, roles);
    if (changed?.ok === true) await this.#reform(changed.value, { action: 'member', detail: userId });
    return changed;
  }

  /** A wallet on one more chain; again it changes nothing. Null when the vault, or the chain, does not exist. */
  async enableChain(name: string): Promise<Vault | null> {
    const chain = findChain(this.#chains, name);
    if (this.#vault === null || chain === null) return null;
    const after = withChain(this.#vault, chain);
    if (after !== this.#vault) await this.#reform(after, { action: 'chain', detail: chain.name });
    return after;
  }

  /** See `PolicyDesk.inForce`, as for the next four. */
  policy(actor: Actor): Result<PolicyView, Refusal> {
    return this.#policies.inForce(actor);
  }

  proposePolicy(proposal: Proposal): Promise<Result<PolicyChangeView, PolicyFault | Refusal>> {
    return this.#policies.propose(proposal);
  }

  policyChanges(actor: Actor, before: PolicyChangeId | null, limit: number): Result<PolicyChangeView[], Refusal> {
    return this.#policies.changes(actor, before, limit);
  }

  policyChange(actor: Actor, id: PolicyChangeId): Result<PolicyChangeView, Refusal> {
    return this.#policies.read(actor, id);
  }

  decidePolicyChange(
    actor: Actor,
    id: PolicyChangeId,
    type: 'approve' | 'reject' | 'cancel',
  ): Promise<Result<PolicyChangeView, Refusal>> {
    return this.#policies.decide(actor, id, type);
  }

  /**
   * Creates a transaction, or answers the same Idempotency-Key with what it created before.
   *
   * Refuses, in order: `forbidden`, `idempotency-key-reused`, `external-id-taken`, `chain-not-enabled`, `wallet-not-ready`,
   * `too-many-pending`, `recipient-looks-alike`, `policy-forbids`.
   */
  async create(
    actor: Actor,
    request: CreationRequest,
  ): Promise<Result<{ readonly view: TransactionView; readonly replayed: boolean }, Refusal>> {
    const rehearsed = this.rehearse(actor, request);
    if (!rehearsed.ok) return rehearsed;
    const { view, replayed } = rehearsed.value;
    if (replayed) return accepted({ view, replayed });
    const { transaction } = view;
    await this.#commits.run(() => {
      if (request.idempotency !== null) this.#storage.remember(actor.userId, request.idempotency, transaction);
      writeCreation(this.#storage, transaction, { action: 'create', actor });
    });
    return accepted({ view, replayed: false });
  }

  /**
   * What `create` would do now, and does not do: the transaction that would be made is in no way kept, and its id never used. What
   * it would meet on its chain can be asked before anything is stored. Refuses as `create` does.
   */
  rehearse(
    actor: Actor,
    request: CreationRequest,
  ): Result<{ readonly view: TransactionView; readonly replayed: boolean }, Refusal> {
    const entered = this.#enter(actor, 'create');
    if (!entered.ok) return entered;
    const { vault, viewer } = entered.value;
    const scope = { storage: this.#storage, chains: this.#chains, vault, actor, nowMs: Date.now() };
    const rehearsed = rehearse(scope, request);
    if (!rehearsed.ok) return rehearsed;
    const { transaction, replayed } = rehearsed.value;
    return accepted({ view: { transaction, policy: vault.policy, viewer }, replayed });
  }

  /** Refuses, in order: `forbidden`, `transaction-not-found`. */
  read(actor: Actor, id: TransactionId): Result<TransactionView, Refusal> {
    return this.#find(actor, id, 'view');
  }

  /** What a signer is asked to approve. Refuses, in order: `forbidden`, `transaction-not-found`, `transaction-not-pending`. */
  challenge(actor: Actor, id: TransactionId): Result<TransactionView, Refusal> {
    const found = this.#find(actor, id, 'vote');
    if (!found.ok) return found;
    const { state, intent } = found.value.transaction;
    if (!isPending(state)) return refused({ code: 'transaction-not-pending', state });
    return Date.now() < intent.expiresAtMs ? found : refused({ code: 'transaction-not-pending', state: 'EXPIRED' });
  }

  /** One voice for the intent as it was created. Refuses as `challenge` does; the same voice again changes nothing. */
  approve(actor: Actor, id: TransactionId): Promise<Result<VoteOutcome, Refusal>> {
    return this.#vote(actor, id, (transaction) => ({ type: 'approve', actor, digest: transaction.digest }));
  }

  /** Ends a pending transaction for good, whoever approved before. Refuses as `challenge` does. */
  reject(actor: Actor, id: TransactionId): Promise<Result<VoteOutcome, Refusal>> {
    return this.#vote(actor, id, () => ({ type: 'reject', actor }));
  }

  /**
   * Takes a pending transaction back; of one that waits to be mined, takes its nonce. A signer may stop what is on its way, as a
   * signer may reject what is not. Refuses, in order: `forbidden`, `transaction-not-found`, `transaction-not-pending`.
   */
  async cancel(actor: Actor, id: TransactionId): Promise<Result<TransactionView, Refusal>> {
    const found = this.#find(actor, id, 'view');
    if (!found.ok) return found;
    const { transaction, viewer } = found.value;
    if (!mayStop(viewer, transaction)) return refused({ code: 'forbidden' });
    if (transaction.state === 'CANCELLED') return found;
    return this.#decided(found.value, { type: 'cancel', actor });
  }

  /** Another attempt at the same nonce for a higher price. Refuses, in order: `forbidden`, `transaction-not-found`, `transaction-not-broadcast`. */
  async speedUp(actor: Actor, id: TransactionId): Promise<Result<TransactionView, Refusal>> {
    const found = this.#find(actor, id, 'create');
    return found.ok ? this.#decided(found.value, { type: 'speedUp', actor }) : found;
  }

  /** For all members, and for good. Refuses, in order: `forbidden`, `transaction-not-found`. */
  async setVisibility(actor: Actor, id: TransactionId, visible: boolean): Promise<Result<TransactionView, Refusal>> {
    const found = this.#find(actor, id, 'curate');
    return found.ok ? this.#decided(found.value, { type: 'setVisibility', actor, visible }) : found;
  }

  /**
   * The record once it differs from the version that was seen, or as it is when the time is over. Whoever lost the right to see it
   * meanwhile does not see it. Refuses as `read` does.
   */
  async readLater(
    actor: Actor,
    id: TransactionId,
    wait: { readonly seen: number; readonly waitMs: number },
  ): Promise<Result<TransactionView, Refusal>> {
    const found = this.read(actor, id);
    if (!found.ok || found.value.transaction.version !== wait.seen) return found;
    await this.changes.next(id, wait.waitMs);
    return this.read(actor, id);
  }

  /** Before the history of a transaction is read from D1. Refuses, in order: `forbidden`, `transaction-not-found`. */
  async settleTransaction(actor: Actor, id: TransactionId): Promise<Result<null, Refusal>> {
    const found = this.#find(actor, id, 'view');
    if (found.ok) await drainProjection(this.#storage, this.env.DB);
    return found.ok ? accepted(null) : found;
  }

  /** Before a list is read from D1: finishes projecting, so that callers see what they wrote. Refuses `forbidden`. */
  async settleProjection(actor: Actor): Promise<Result<VaultScope, Refusal>> {
    const entered = this.#enter(actor, 'view');
    if (!entered.ok) return entered;
    await drainProjection(this.#storage, this.env.DB);
    return accepted({ policy: entered.value.vault.policy, viewer: entered.value.viewer });
  }

  /** For the consumers: the job with all it needs, or null when it is not outstanding. */
  work(id: TransactionId, job: TransactionJob): TransactionWork | null {
    const transaction = this.#vault === null ? null : this.#storage.transaction(id);
    if (this.#vault === null || transaction === null || outstandingJob(transaction) !== job) return null;
    const chain = findChain(this.#chains, transaction.chain);
    const key = this.#vault.keys.find((candidate) => transaction.chain in candidate.addresses);
    if (chain === null || key === undefined) return null;
    const { signingThreshold } = this.#vault.configuration;
    return { transaction, chain, key, policies: this.#storage.policies.adopted(), signingThreshold };
  }

  /** For the consumers: what happened. Late and doubled reports change nothing. Gives the record afterwards. */
  async record(id: TransactionId, event: TransactionEvent): Promise<Transaction | null> {
    const transaction = this.#vault === null ? null : this.#storage.transaction(id);
    if (transaction === null) return null;
    return this.#apply(transaction, event, null);
  }

  /** For the consumers: the key that this vault still lacks, or null. */
  keyWork(): KeyWork | null {
    const vault = this.#vault;
    if (vault === null || vault.keys.length > 0) return null;
    const chains = this.#chains.filter((chain) => vault.configuration.chains.includes(chain.name));
    return { vault, chains, policies: this.#storage.policies.adopted().map(({ policy }) => policy) };
  }

  /** The vault's own key. The first one recorded stays: a second run of the job changes nothing. */
  async recordKey(key: VaultKey): Promise<void> {
    const vault = this.#vault;
    if (vault === null || vault.keys.length > 0) return;
    await this.#reform(withKey(vault, key, this.#chains), { action: 'key', detail: key.keyId });
  }

  /** For the sweep: an alarm that was lost is set again, and an overdue expiry happens. */
  async nudge(): Promise<void> {
    if (this.#vault === null) return;
    this.#commits.disarm();
    await this.#commits.arm();
  }

  override async alarm(): Promise<void> {
    this.#commits.disarm();
    const nowMs = Date.now();
    try {
      for (const row of this.#storage.due(nowMs, 100)) {
        const transaction = row.job === 'expire' ? this.#storage.transaction(row.transactionId) : null;
        if (transaction !== null) await this.#apply(transaction, { type: 'expire' }, null);
        const change = row.job === 'expire-policy' ? this.#storage.policies.change(row.transactionId) : null;
        if (change !== null) await this.#policies.apply(change, { type: 'expire' });
      }
      await drainDue({ storage: this.#storage, env: this.env, vaultId: this.#vault?.id ?? 0, nowMs });
      await drainProjection(this.#storage, this.env.DB);
      await this.#commits.arm();
    } catch (error) {
      console.error(JSON.stringify({ event: 'vault-alarm-failed', vaultId: this.#vault?.id, error: String(error) }));
      await this.#commits.armAt(nowMs + ALARM_RETRY_MS);
    }
  }

  #enter(actor: Actor, permission: Permission): Result<{ readonly vault: Vault; readonly viewer: Member }, Refusal> {
    const vault = this.#vault;
    const viewer = vault?.members.find((member) => member.userId === actor.userId) ?? null;
    if (vault === null || viewer === null || !may(viewer, permission)) return refused({ code: 'forbidden' });
    return accepted({ vault, viewer });
  }

  #find(actor: Actor, id: TransactionId, permission: Permission): Result<TransactionView, Refusal> {
    const entered = this.#enter(actor, permission);
    if (!entered.ok) return entered;
    const transaction = this.#storage.transaction(id);
    if (transaction === null) return refused({ code: 'transaction-not-found' });
    return accepted({ transaction, policy: entered.value.vault.policy, viewer: entered.value.viewer });
  }

  async #vote(
    actor: Actor,
    id: TransactionId,
    eventFor: (transaction: Transaction) => TransactionEvent,
  ): Promise<Result<VoteOutcome, Refusal>> {
    const found = this.#find(actor, id, 'vote');
    if (!found.ok) return found;
    const { transaction, policy, viewer } = found.value;
    const event = eventFor(transaction);
    const decided = decide(transaction, event, this.#circumstances());
    if (!decided.ok) {
      return isRepeatedVote(transaction, event) ? accepted({ view: found.value, changed: false }) : decided;
    }
    const after = await this.#apply(transaction, event, actor);
    return accepted({ view: { transaction: after, policy, viewer }, changed: decided.value.changed });
  }

  /** Applies what a person asks for, or refuses it. */
  async #decided(view: TransactionView, event: PersonalEvent): Promise<Result<TransactionView, Refusal>> {
    const decided = decide(view.transaction, event, this.#circumstances());
    if (!decided.ok) return decided;
    const transaction = await this.#apply(view.transaction, event, event.actor);
    return accepted({ ...view, transaction });
  }

  async #apply(transaction: Transaction, event: TransactionEvent, actor: Actor | null): Promise<Transaction> {
    let after = transaction;
    await this.#commits.run(() => {
      after = this.#write(transaction, event, actor);
    });
    return after;
  }

  /** Decides, and writes record, effects and history; runs inside a commit. Gives the record afterwards. */
  #write(transaction: Transaction, event: TransactionEvent, actor: Actor | null): Transaction {
    const circumstances = this.#circumstances();
    const decided = decide(transaction, event, circumstances);
    if (!decided.ok) throw new Error(`a refusal must be answered before it is applied: ${decided.refusal.code}`);
    const after = decided.value.transaction;
    writeDecision(this.#storage, transaction, { ...decided.value, cause: { action: event.type, actor } });
    if (decided.value.changed) this.changes.wake(after.id);
    const chain = findChain(this.#chains, after.chain);
    postponeAfter(this.#storage, { event, transaction: after, chain }, circumstances.nowMs);
    return after;
  }

  /** The vault as it is from now on, with one audit line. */
  async #reform(after: Vault, line: { readonly action: string; readonly detail: string }): Promise<void> {
    await this.#commits.run(() => {
      this.#storage.putVault(after);
      if (after.keys.length > 0) this.#storage.discharge('', 'generate-key');
      writeVaultChange(this.#storage, after, { ...line, actor: null });
    });
    this.#vault = after;
  }

  #circumstances(): Circumstances {
    if (this.#vault === null) throw new Error('a vault without a foundation has no transactions');
    const nowMs = Date.now();
    const spentOf = (asset: AssetName) => this.#storage.policies.spentOf(asset, nowMs);
    return { nowMs, policy: this.#vault.policy, spentOf };
  }
}
