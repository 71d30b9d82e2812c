import { DurableObject } from 'cloudflare:workers';
import { chainsFrom } from '#chains/registry.ts';
import type { Vault } from '#domain/vault.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import { ChangeSignal } from '#objects/vault/change-signal.ts';
import { FeedCache } from '#objects/vault/feed-cache.ts';
import { FEED_SIGNAL } from '#objects/vault/commands/feed.ts';
import { expirePolicyChange } from '#objects/vault/commands/policy.ts';
import { expireTransaction } from '#objects/vault/commands/transaction.ts';
import { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { BEHIND_EXECUTE, BEHIND_QUERY, BEHIND_REPORT } from '#objects/vault/doors.ts';
import type { Command, CommandActor, Query, QueryActor, Report } from '#objects/vault/doors.ts';
import type { OutboxJob, OutboxRow } from '#objects/vault/outbox.ts';
import { resendDelayMs } from '#objects/vault/outbox.ts';
import { drainDue, drainProjection } from '#objects/vault/outbox-drain.ts';
import { VAULT_SCHEMA } from '#objects/vault/schema.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import { logUnreadable } from '#store/document.ts';
import { errorText } from '#store/error-text.ts';
import { upgradeState } from '#store/object-schema.ts';

/** The platform drops an alarm after six failed retries, so it never fails, and repeats instead. */
const ALARM_RETRY_MS = 1_000;

type Expiry = (context: VaultContext, id: string) => Promise<unknown>;

/** The jobs that the alarm does itself. */
const EXPIRIES: Readonly<Partial<Record<OutboxJob, Expiry>>> = {
  expire: expireTransaction,
  'expire-policy': expirePolicyChange,
};

/**
 * One vault: the only writer and the source of truth of its members, transactions, approvals and
 * history. Each command is one synchronous turn with one storage transaction. Therefore two
 * approvals can never both be the last, and a crash keeps all of it or nothing. A turn uses no
 * network: external work is a row of the outbox.
 */
export class VaultObject extends DurableObject<CoordinatorConfig> {
  readonly #storage: VaultStorage;
  readonly #commits: VaultCommit;
  readonly #context: VaultContext;
  #vault: Vault | null = null;
  /** Callers that wait for a transaction to change, by its id. */
  readonly changes = new ChangeSignal();

  constructor(ctx: DurableObjectState, env: CoordinatorConfig) {
    super(ctx, env);
    upgradeState(ctx.storage, VAULT_SCHEMA);
    this.#storage = new VaultStorage(ctx.storage.sql, (env.WEB_PUSH ?? '') !== '');
    this.#commits = new VaultCommit(ctx.storage, this.#storage, () => this.changes.wake(FEED_SIGNAL));
    this.#context = {
      storage: this.#storage,
      commits: this.#commits,
      chains: chainsFrom(env),
      changes: this.changes,
      feed: new FeedCache(),
      vault: () => this.#vault,
      replaceVault: (vault) => void (this.#vault = vault),
      flush: () => drainProjection(this.#storage, env.DB, () => this.#vault),
    };
    if (this.#storage.exists()) this.#vault = this.#storage.vault();
  }

  /** Does what an actor requests. Refusals are in the answer. */
  execute<T extends keyof typeof BEHIND_EXECUTE>(actor: CommandActor<T>, command: Command<T>) {
    return BEHIND_EXECUTE[command.type](this.#context, actor, command);
  }

  /** Answers what an actor reads. */
  query<T extends keyof typeof BEHIND_QUERY>(actor: QueryActor<T>, query: Query<T>) {
    return BEHIND_QUERY[query.type](this.#context, actor, query);
  }

  /** Records what happened outside. Late and repeated reports change nothing. */
  report<T extends keyof typeof BEHIND_REPORT>(report: Report<T>) {
    return BEHIND_REPORT[report.type](this.#context, report);
  }

  /** For the sweep: restores a lost alarm. */
  async rearmAlarm(): Promise<void> {
    if (this.#vault === null) return;
    this.#commits.disarm();
    await this.#commits.arm();
  }

  /** An unreadable record does not stop the others. It is tried again later. */
  async #expire(row: OutboxRow, nowMs: number): Promise<void> {
    try {
      await EXPIRIES[row.job]?.(this.#context, row.transactionId);
    } catch (error) {
      logUnreadable(error, { vaultId: this.#vault?.id, id: row.transactionId });
      this.#storage.postpone(row, nowMs + resendDelayMs(row));
    }
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#commits.onAlarm(nowMs);
    try {
      for (const row of this.#storage.due(nowMs, 100)) await this.#expire(row, nowMs);
      await drainDue({ storage: this.#storage, env: this.env, vaultId: this.#vault?.id ?? 0, nowMs });
      await this.#context.flush();
      await this.#commits.arm();
    } catch (error) {
      console.error(JSON.stringify({ event: 'vault-alarm-failed', vaultId: this.#vault?.id, error: errorText(error) }));
      await this.#commits.armAt(nowMs + ALARM_RETRY_MS);
    }
  }
}
