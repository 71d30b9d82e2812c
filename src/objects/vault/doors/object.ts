import { DurableObject } from 'cloudflare:workers';
import { chainsFrom } from '#chains/families/registry.ts';
import type { Actor } from '#domain/access/approval.ts';
import { STATE_UNREADABLE } from '#domain/operations/alert.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import { ChangeSignal } from '#objects/vault/change-signal.ts';
import { FeedCache } from '#objects/vault/feed-cache.ts';
import { FEED_SIGNAL } from '#objects/vault/commands/feed.ts';
import { expirePolicyChange } from '#objects/vault/commands/policy.ts';
import { expireTransaction, pruneTransaction } from '#objects/vault/commands/transaction.ts';
import { VaultCommit } from '#objects/vault/commit.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { BEHIND_EXECUTE, BEHIND_QUERY, BEHIND_REPORT, BEHIND_WORK } from '#objects/vault/doors/doors.ts';
import type { Command, CommandActor, Query, Report, Work } from '#objects/vault/doors/doors.ts';
import type { JobQueue, OutboxJob } from '#objects/outbox.ts';
import { JOB_QUEUES, resendDelayMs, retryDelayMs } from '#objects/outbox.ts';
import { drainDue, drainProjection } from '#objects/vault/outbox-drain.ts';
import { raiseAlert, storeAlert } from '#objects/metrics.ts';
import { VAULT_SCHEMA } from '#objects/vault/schema.ts';
import type { WokenVault } from '#objects/vault/views.ts';
import { VaultStorage } from '#objects/vault/storage.ts';
import { logUnreadable } from '#store/document.ts';
import { errorText } from '#store/error-text.ts';
import { unreadableText, upgradeState } from '#store/object-schema.ts';

/** The parts of the alarm. Each is tried when another one fails. */
type AlarmPart = 'expire' | JobQueue | 'project';

/** This many failures in a row take at least 15 seconds, so some lost calls are no alert. */
const ALERT_AFTER = 5;
/** At a minute for each try, the alert is repeated four times an hour, as the other alerts are. */
const ALERT_EVERY = 15;

type Expiry = (context: VaultContext, id: string) => Promise<unknown>;

/** The jobs that the alarm does itself. */
const EXPIRIES: Readonly<Partial<Record<OutboxJob, Expiry>>> = {
  expire: expireTransaction,
  'expire-policy': expirePolicyChange,
  prune: pruneTransaction,
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
    this.#storage = new VaultStorage(
      ctx.storage.sql,
      [env.WEB_PUSH, env.EMAIL_NOTIFICATIONS].some((setting) => (setting ?? '') !== ''),
    );
    this.#commits = new VaultCommit(ctx.storage, this.#storage, () => this.changes.wake(FEED_SIGNAL));
    this.#context = {
      storage: this.#storage,
      commits: this.#commits,
      chains: chainsFrom(env),
      changes: this.changes,
      feed: new FeedCache(),
      vault: () => this.#vault,
      replaceVault: (vault) => void (this.#vault = vault),
      flush: () => drainProjection(this.#storage, env, () => this.#vault),
    };
    if (this.#storage.exists()) this.#vault = this.#storage.vault();
  }

  /** Does what an actor requests. Refusals are in the answer. */
  execute<T extends keyof typeof BEHIND_EXECUTE>(actor: CommandActor<T>, command: Command<T>) {
    return BEHIND_EXECUTE[command.type](this.#context, actor, command);
  }

  /** Answers what a member reads. */
  query<T extends keyof typeof BEHIND_QUERY>(actor: Actor, query: Query<T>) {
    return BEHIND_QUERY[query.type](this.#context, actor, query);
  }

  /** Answers what a consumer or an operator reads. */
  work<T extends keyof typeof BEHIND_WORK>(work: Work<T>) {
    return BEHIND_WORK[work.type](this.#context, work);
  }

  /** Records what happened outside. Late and repeated reports change nothing. */
  report<T extends keyof typeof BEHIND_REPORT>(report: Report<T>) {
    return BEHIND_REPORT[report.type](this.#context, report);
  }

  /** For the sweep: restores a lost alarm. */
  async wake(): Promise<WokenVault> {
    const exists = this.#vault !== null;
    if (exists) {
      this.#commits.disarm();
      await this.#commits.arm();
    }
    const bytes = this.ctx.storage.sql.databaseSize;
    const passkeys =
      this.#vault?.policy.devices.flatMap((device) => (device.algorithm === 'webauthn-p256' ? [device.origin] : [])) ??
      [];
    return {
      bytes,
      fundedChains: exists ? this.#storage.balances.fundedChains() : [],
      passkeyOrigins: [...new Set(passkeys)].toSorted(),
    };
  }

  /**
   * Does what is due. The parts fail separately: signing goes on while D1 is full, and the read
   * model is written while a queue is unreachable.
   *
   * It throws only when the storage of the object fails, which it needs to count failures and to
   * set the alarm. The platform then retries it six times, and the sweep sets it again later.
   */
  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#commits.onAlarm(nowMs);
    const work = { storage: this.#storage, env: this.env, vaultId: this.#vault?.id ?? 0, nowMs };
    const expireAtMs = await this.#attempt('expire', () => this.#expireDue(nowMs));
    const sendAtMs: number[] = [];
    for (const queue of JOB_QUEUES) sendAtMs.push(await this.#attempt(queue, () => drainDue(work, queue)));
    if (nowMs >= this.#commits.projectFromMs) {
      this.#commits.projectFromMs = await this.#attempt('project', () => this.#context.flush().then(() => true));
    }
    await this.#commits.arm(Math.max(expireAtMs, ...sendAtMs));
  }

  /**
   * Runs a part of the alarm. An error is logged and counted.
   *
   * @param run reports whether anything was due
   * @returns when the part is tried again after an error, in Unix milliseconds; otherwise 0
   */
  async #attempt(part: AlarmPart, run: () => Promise<boolean>): Promise<number> {
    const { kv } = this.ctx.storage;
    // The memory of an object does not last for a minute without calls.
    const key = `alarm-failures:${part}`;
    try {
      // Where nothing was due, it is unknown whether the fault is over.
      if ((await run()) && kv.get(key) !== undefined) kv.delete(key);
      return 0;
    } catch (error) {
      const before = kv.get(key);
      const failures = (typeof before === 'number' ? before : 0) + 1;
      kv.put(key, failures);
      const vaultId = this.#vault?.id ?? 0;
      console.error(JSON.stringify({ event: 'vault-alarm-failed', vaultId, part, failures, error: errorText(error) }));
      if (failures % ALERT_EVERY === ALERT_AFTER) {
        const detail = `The alarm of a vault failed at the part ${part}: ${failures} times in a row.`;
        await raiseAlert(this.env, { code: 'vault-alarm-failing', subject: part, detail, vaultId });
      }
      return Date.now() + retryDelayMs({ transactionId: String(vaultId), tries: failures - 1 });
    }
  }

  async #reportUnreadable(error: unknown, id: string): Promise<void> {
    const vaultId = this.#vault?.id;
    const detail = logUnreadable(error, { vaultId, id });
    await storeAlert(this.env, { code: STATE_UNREADABLE, detail });
  }

  /**
   * Ends what has expired. A row that fails is postponed and does not stop the others. Throws the
   * first error afterwards, except for an unreadable record, which has an alert of its own. Reports
   * whether anything was due.
   */
  async #expireDue(nowMs: number): Promise<boolean> {
    const rows = this.#storage.due(nowMs, 100).filter(({ job }) => EXPIRIES[job] !== undefined);
    const errors: unknown[] = [];
    for (const row of rows) {
      try {
        await EXPIRIES[row.job]?.(this.#context, row.transactionId);
      } catch (error) {
        this.#storage.postpone(row, nowMs + resendDelayMs(row));
        if (unreadableText(error) === null) errors.push(error);
        else await this.#reportUnreadable(error, row.transactionId);
      }
    }
    if (errors.length > 0) throw errors[0];
    return rows.length > 0;
  }
}
