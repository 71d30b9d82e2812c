import { DurableObject } from 'cloudflare:workers';
import { findChain, chainsFrom } from '#chains/registry.ts';
import type { Chain, KeyScheme } from '#domain/asset/chain.ts';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { CredentialResetId, PolicyChangeId, TransactionId, UserId } from '#domain/id.ts';
import type { TransactionJob, UnknownEndReason } from '#domain/transaction/job.ts';
import type { Role } from '#domain/access/member.ts';
import type { PolicyFault } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Refusal } from '#domain/refusal.ts';
import { accepted, refused, type Result } from '#domain/result.ts';
import type { Actor, Transaction } from '#domain/transaction/transaction.ts';
import type { Vault, VaultKey } from '#domain/vault.ts';
import { ActivityCommands, type ActivityOutcome, type ActivityReport } from '#objects/vault/commands/activity.ts';
import { CredentialResetCommands } from '#objects/vault/commands/credential-reset.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import { ChangeSignal } from '#objects/vault/change-signal.ts';
import { FEED_SIGNAL, VaultFeed, type VaultChanges } from '#objects/vault/commands/feed.ts';
import { authorize, withMember } from '#domain/access/membership.ts';
import { type VaultSpec, vaultFromSpec } from '#domain/new-vault.ts';
import type { PolicyPatchFault } from '#domain/policy/next-policy.ts';
import { KeyCommands, type KeyProgress, type UpdateVault } from '#objects/vault/commands/key.ts';
import { KeyRefreshCommands, type RefreshName, type RefreshReport } from '#objects/vault/commands/key-refresh.ts';
import { BalanceCommands, type BalanceView, type HoldingsReport } from '#objects/vault/commands/balance.ts';
import type { ReconcileWork, BlockRange } from '#objects/vault/commands/balance.ts';
import type { ChainAsset } from '#objects/vault/tables/balance-table.ts';
import type { CreationRequest } from '#objects/vault/writes/new-transaction.ts';
import type { Proposal, RenewalRequest } from '#objects/vault/writes/policy-change-writes.ts';
import { NotificationCommands, type NotificationSubjectId } from '#objects/vault/commands/notifications.ts';
import type { DeliveredNotification, NotificationWork } from '#objects/vault/commands/notifications.ts';
import { type AdoptionReport, type ChangeDecision, PolicyCommands } from '#objects/vault/commands/policy.ts';
import type { RecoveryExport } from '#objects/vault/writes/recovery-exports.ts';
import { TransactionCommands } from '#objects/vault/commands/transaction.ts';
import { VaultCommit } from '#objects/vault/commit.ts';
import { drainDue, drainProjection } from '#objects/vault/outbox-drain.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import { formerWalletsOf, type Wallet, withChain } from '#objects/vault/wallets.ts';
import type { ActivityView, AdoptionWork, ChallengeView, CreationView, FollowWork } from '#objects/vault/views.ts';
import type { KeyWork, PolicyChangeInFull, PolicyChangeView, PolicyView, RefreshWork } from '#objects/vault/views.ts';
import { type TransactionView, type TransactionWork, type VaultScope, versionOf } from '#objects/vault/views.ts';
import type { HeldNonceRecord, ApprovalOutcome } from '#objects/vault/views.ts';
import { writeNewVault, writeVault, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';
import { errorText } from '#store/error-text.ts';

/** The platform drops an alarm after six failed retries, so it never fails, and repeats instead. */
const ALARM_RETRY_MS = 1_000;
type Answer<T> = Promise<Result<T, Refusal>>;

/**
 * One vault: the only writer and the source of truth of its members, transactions, approvals and
 * history. Each command is one synchronous turn with one storage transaction. Therefore two
 * approvals can never both be the last, and a crash keeps all of it or nothing. A turn uses no
 * network: external work is a row of the outbox.
 */
export class VaultObject extends DurableObject<CoordinatorConfig> {
  readonly #storage: VaultStorage;
  readonly #commits: VaultCommit;
  readonly #transactions: TransactionCommands;
  readonly #policies: PolicyCommands;
  readonly #activities: ActivityCommands;
  readonly #balances: BalanceCommands;
  readonly #feed: VaultFeed;
  readonly #notifications: NotificationCommands;
  readonly #keys: KeyCommands;
  readonly #refreshes: KeyRefreshCommands;
  readonly #resets: CredentialResetCommands;
  readonly #chains: readonly Chain[];
  #vault: Vault | null = null;
  /** Callers that wait for a transaction to change, by its id. */
  readonly changes = new ChangeSignal();

  constructor(ctx: DurableObjectState, env: CoordinatorConfig) {
    super(ctx, env);
    this.#storage = new VaultStorage(ctx.storage.sql, (env.WEB_PUSH ?? '') !== '');
    this.#commits = new VaultCommit(ctx.storage, this.#storage, () => this.changes.wake(FEED_SIGNAL));
    this.#chains = chainsFrom(env);
    const host: VaultContext = {
      storage: this.#storage,
      commits: this.#commits,
      chains: this.#chains,
      changes: this.changes,
      vault: () => this.#vault,
      authorize: (actor, permission) => authorize(this.#vault, actor, permission),
    };
    this.#transactions = new TransactionCommands(host);
    this.#activities = new ActivityCommands(host, (id) => this.#transactions.record(id, { type: 'watch' }));
    this.#balances = new BalanceCommands(host);
    this.#feed = new VaultFeed(host, this.#balances);
    this.#notifications = new NotificationCommands(host);
    this.#keys = new KeyCommands(host, this.#updateVault);
    this.#refreshes = new KeyRefreshCommands(host, this.#updateVault);
    this.#resets = new CredentialResetCommands(host);
    this.#policies = new PolicyCommands(host, {
      dropVotes: (policy) => this.#transactions.dropStaleApprovals(policy),
      replaceVault: (vault) => void (this.#vault = vault),
    });
    if (this.#storage.exists()) this.#vault = this.#storage.vault();
    if (this.#vault !== null) void ctx.blockConcurrencyWhile(() => this.#keys.deriveNetworks());
  }

  /** Creates the vault. Idempotent for one reference. Refuses `number-taken` and `PolicyFault`s. */
  async initialise(spec: VaultSpec): Promise<Result<Vault, PolicyFault | 'number-taken'>> {
    const known = this.#vault;
    if (known !== null) return known.reference === spec.reference ? accepted(known) : refused('number-taken');
    const created = vaultFromSpec(spec);
    if (!created.ok) return created;
    const write = () => writeNewVault(this.#storage, created.value, this.#chains);
    await this.#commits.run(write, () => {
      this.#vault = created.value;
    });
    return created;
  }

  /** Returns the vault after updating the directory, which drops activity on unknown addresses. */
  async describe(): Promise<Vault | null> {
    const vault = this.#vault;
    if (vault !== null) await drainProjection(this.#storage, this.env.DB);
    return vault;
  }

  /** Requeues the whole read model after its reset or loss. Null when the vault does not exist. */
  async project(): Promise<ReturnType<VaultStorage['requeueProjection']> | null> {
    return this.#vault === null ? null : this.#commits.run(() => this.#storage.requeueProjection(Date.now()));
  }

  /** Sets the roles of a user, or removes the user when there are none. Null without a vault. */
  async putMember(userId: UserId, roles: readonly Role[]): Promise<Result<Vault, 'needs-quorum'> | null> {
    const changed = this.#vault === null ? null : withMember(this.#vault, userId, roles);
    if (changed?.ok === true) await this.#updateVault(changed.value, { action: 'member', detail: userId });
    return changed;
  }

  /** Adds a wallet on a chain. Idempotent. Null when the vault or the chain does not exist. */
  async enableChain(name: string): Promise<Vault | null> {
    const chain = findChain(this.#chains, name);
    if (this.#vault === null || chain === null) return null;
    const after = withChain(this.#vault, chain);
    if (after !== this.#vault) await this.#updateVault(after, { action: 'chain', detail: chain.name });
    return after;
  }

  /** See `PolicyCommands.inForce`, also for the next six. */
  policy(actor: Actor): Result<PolicyView, Refusal> {
    return this.#policies.inForce(actor);
  }

  proposePolicy(proposal: Proposal): Promise<Result<PolicyChangeView, PolicyPatchFault | Refusal>> {
    return this.#policies.propose(proposal);
  }

  renewMandate(request: RenewalRequest): Answer<PolicyChangeView> {
    return this.#policies.renew(request);
  }

  policyChanges(actor: Actor, before: PolicyChangeId | null, limit: number): Result<PolicyChangeView[], Refusal> {
    return this.#policies.changes(actor, before, limit);
  }

  policyHistory(actor: Actor, before: number | null, limit: number): Result<readonly AdoptedPolicy[], Refusal> {
    return this.#policies.history(actor, before, limit);
  }

  policyChange(actor: Actor, id: PolicyChangeId): Result<PolicyChangeInFull, Refusal> {
    return this.#policies.read(actor, id);
  }

  decidePolicyChange(actor: Actor, id: PolicyChangeId, decision: ChangeDecision): Answer<PolicyChangeView> {
    return this.#policies.decide(actor, id, decision);
  }

  /** See `TransactionCommands.create`, also for the methods below, and `ActivityCommands`. */
  create(actor: Actor, request: CreationRequest): Promise<Result<CreationView, Refusal>> {
    return this.#transactions.create(actor, request);
  }

  previewCreation(actor: Actor, request: CreationRequest): Result<CreationView, Refusal> {
    return this.#transactions.previewCreation(actor, request);
  }

  /** Returns a transaction or activity. Refuses `forbidden`, then `transaction-not-found`. */
  read(actor: Actor, id: TransactionId): Result<TransactionView | ActivityView, Refusal> {
    const found = this.#transactions.read(actor, id);
    // Transactions come first: they are read far more often.
    return found.ok ? found : (this.#activities.read(actor, id) ?? found);
  }

  /**
   * Returns the record once it differs from `seen` or time is over. Refuses as `read` even then.
   */
  async readLater(
    actor: Actor,
    id: TransactionId,
    wait: { readonly seen: number; readonly waitMs: number },
  ): Promise<Result<TransactionView | ActivityView, Refusal>> {
    const found = this.read(actor, id);
    if (!found.ok || versionOf(found.value) !== wait.seen) return found;
    await this.changes.next(id, wait.waitMs);
    return this.read(actor, id);
  }

  challenge(actor: Actor, id: TransactionId): Result<ChallengeView, Refusal> {
    return this.#transactions.challenge(actor, id);
  }

  approve(actor: Actor, id: TransactionId, device: DeviceSignature | null = null): Answer<ApprovalOutcome> {
    return this.#transactions.approve(actor, id, device);
  }

  reject(actor: Actor, id: TransactionId): Promise<Result<ApprovalOutcome, Refusal>> {
    return this.#transactions.reject(actor, id);
  }

  cancel(actor: Actor, id: TransactionId, acknowledged: UnknownEndReason | null = null): Answer<TransactionView> {
    return this.#transactions.cancel(actor, id, acknowledged);
  }

  speedUp(actor: Actor, id: TransactionId): Promise<Result<TransactionView, Refusal>> {
    return this.#transactions.speedUp(actor, id);
  }

  async setVisibility(actor: Actor, id: TransactionId, visible: boolean): Answer<TransactionView | ActivityView> {
    const ofOthers = await this.#activities.setVisibility(actor, id, visible);
    return ofOthers ?? this.#transactions.setVisibility(actor, id, visible);
  }

  recordActivity(report: ActivityReport): Promise<ActivityOutcome> {
    return this.#activities.record(report);
  }

  pollActivityNow(chain: string, hash: string): Promise<void> {
    return this.#activities.pollNow(chain, hash);
  }

  followWork(id: TransactionId): FollowWork | null {
    return this.#activities.followWork(id);
  }

  /** See `BalanceCommands`, also for the next three. */
  balances(
    actor: Actor,
    after: Omit<ChainAsset, 'kind'> | null,
    requested: { readonly limit: number; readonly hiddenToo: boolean },
  ): Result<readonly BalanceView[], Refusal> {
    return this.#balances.balances(actor, after, requested);
  }

  requestRescan(actor: Actor): Promise<Result<readonly Wallet[], Refusal>> {
    return this.#balances.requestRescan(actor);
  }

  reconcileWork(): readonly ReconcileWork[] {
    return this.#balances.work();
  }

  recordHoldings(report: HoldingsReport): Promise<BlockRange | null> {
    return this.#balances.record(report);
  }

  /** See `CredentialResetCommands`, also for the next two. */
  recordCredentialReset(reset: CredentialReset): Promise<number | null> {
    return this.#resets.record(reset);
  }

  credentialResets(actor: Actor, id: CredentialResetId | null): Result<readonly CredentialReset[], Refusal> {
    return this.#resets.read(actor, id);
  }

  verifyResetCancellation(id: CredentialResetId, given: DeviceSignature): Promise<Result<CredentialReset, Refusal>> {
    return this.#resets.verifyCancellation(id, given);
  }

  /** See `VaultFeed`, also for the next. */
  beginFeed(actor: Actor): Result<number, Refusal> {
    return this.#feed.begin(actor);
  }

  feed(actor: Actor, after: number, waitMs: number): Promise<Result<VaultChanges, Refusal>> {
    return this.#feed.next(actor, after, waitMs);
  }

  /** See `NotificationCommands`, also for the next. */
  notificationWork(ids: readonly NotificationSubjectId[]): Promise<readonly NotificationWork[]> {
    return this.#notifications.work(ids);
  }

  recordNotificationsDelivered(delivered: readonly DeliveredNotification[]): Promise<void> {
    return this.#notifications.done(delivered);
  }

  record(id: TransactionId, event: TransactionEvent): Promise<Transaction | null> {
    return this.#transactions.record(id, event);
  }

  /** Updates the history in D1 for a reader. Refuses `forbidden`, then `transaction-not-found`. */
  async flushTransaction(actor: Actor, id: TransactionId): Promise<Result<null, Refusal>> {
    const found = this.read(actor, id);
    if (found.ok) await drainProjection(this.#storage, this.env.DB);
    return found.ok ? accepted(null) : found;
  }

  /** Completes the projection before a list is read from D1. Refuses `forbidden`. */
  async flushProjection(actor: Actor): Promise<Result<VaultScope, Refusal>> {
    const found = authorize(this.#vault, actor, 'view');
    if (!found.ok) return found;
    await drainProjection(this.#storage, this.env.DB);
    const { vault, viewer } = found.value;
    return accepted({ policy: vault.policy, viewer, formerWallets: formerWalletsOf(vault) });
  }

  /** See `TransactionCommands.work`, also for the next one. */
  work(id: TransactionId, job: TransactionJob): TransactionWork | null {
    return this.#transactions.work(id, job);
  }

  heldNonces(wallet: Wallet): readonly HeldNonceRecord[] {
    return this.#transactions.heldNonces(wallet);
  }

  /** See `KeyCommands.work`, also for the next two. */
  keyWork(): KeyWork | null {
    return this.#keys.work();
  }

  progressKey(scheme: KeyScheme, progress: KeyProgress): Promise<void> {
    return this.#keys.progress(scheme, progress);
  }

  recordKey(key: VaultKey): Promise<void> {
    return this.#keys.record(key);
  }

  /** See `KeyRefreshCommands`. */
  requestRefresh(keyId: string): Promise<boolean> {
    return this.#refreshes.request(keyId);
  }

  refreshWork(): RefreshWork | null {
    return this.#refreshes.work();
  }

  giveUpRefresh(keyId: string): Promise<Result<null, 'key-refresh-activating'>> {
    return this.#refreshes.giveUp(keyId);
  }

  reportRefresh(refresh: RefreshName, report: RefreshReport): Promise<void> {
    return this.#refreshes.report(refresh, report);
  }

  adoptionWork(): AdoptionWork | null {
    return this.#policies.adoptionWork();
  }

  policiesAfter(version: number): readonly AdoptedPolicy[] {
    return this.#storage.policies.adoptedAfter(version);
  }

  reportAdoption(report: AdoptionReport): Promise<void> {
    return this.#policies.reportAdoption(report);
  }

  recordExport(requested: RecoveryExport): Promise<boolean> {
    return this.#keys.recordExport(requested);
  }

  /** For the sweep: restores a lost alarm. */
  async rearmAlarm(): Promise<void> {
    if (this.#vault === null) return;
    this.#commits.disarm();
    await this.#commits.arm();
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#commits.onAlarm(nowMs);
    try {
      for (const row of this.#storage.due(nowMs, 100)) {
        if (row.job === 'expire') await this.#transactions.expire(row.transactionId);
        if (row.job === 'expire-policy') await this.#policies.expire(row.transactionId);
      }
      await drainDue({ storage: this.#storage, env: this.env, vaultId: this.#vault?.id ?? 0, nowMs });
      await drainProjection(this.#storage, this.env.DB);
      await this.#commits.arm();
    } catch (error) {
      console.error(JSON.stringify({ event: 'vault-alarm-failed', vaultId: this.#vault?.id, error: errorText(error) }));
      await this.#commits.armAt(nowMs + ALARM_RETRY_MS);
    }
  }

  readonly #updateVault: UpdateVault = async (after, line, also = () => {}) => {
    const write = () => {
      writeVault(this.#storage, after, this.#chains);
      writeVaultChange(this.#storage, after, { ...line, actor: null });
      also();
    };
    await this.#commits.run(write, () => void (this.#vault = after));
  };
}
