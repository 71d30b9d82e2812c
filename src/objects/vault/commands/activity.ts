import { authorize } from '#domain/vault/membership.ts';
import { randomBytes } from '@noble/hashes/utils.js';
import type { Valuation } from '#domain/asset/valuation.ts';
import { knownCounterparties } from '#objects/vault/writes/known-counterparties.ts';
import { findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Activity, ChainTransaction } from '#domain/activity/activity.ts';
import {
  newActivity,
  isWatched,
  MAX_UNCONFIRMED,
  updatedActivity,
  shown,
  needsValuation,
} from '#domain/activity/activity.ts';
import type { ReadingProof } from '#domain/activity/correction.ts';
import { isCorrected, isFinalRecord, UNPROVEN } from '#domain/activity/correction.ts';
import type { TransactionId } from '#domain/id.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Permission } from '#domain/access/member.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { LimitedKind } from '#domain/activity/daily-limit.ts';
import { limitedKind, postedAlone } from '#domain/activity/daily-limit.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { walletAddress } from '#domain/vault/vault.ts';
import { recordEvent } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { ActivityView, FollowWork } from '#objects/vault/views.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { countRecord, isLimitReached, isOmissionWritten } from '#objects/vault/writes/daily-records.ts';
import { writeActivity } from '#objects/vault/writes/vault-writes.ts';

/** What a chain shows under a hash; null when it shows nothing (any more). */
export interface ActivityReport {
  /** Canonical name. */
  readonly chain: string;
  readonly hash: string;
  readonly seen: ChainTransaction | null;
  /**
   * The valuation of the assets that it moved; null when no price source was called, which is
   * enough for an existing record.
   */
  readonly valuation: Valuation | null;
  /** The ids of movements that only the balances around the block prove; none when absent. */
  readonly byBalances?: readonly string[];
  /** How well it is proven; not at all when absent. */
  readonly proof?: ReadingProof;
}

/**
 * `own`: the vault made it and has a record of it. `omitted`: a daily limit leaves out its record,
 * and the ledger has it. `none`: it does not concern the vault, or does not exist.
 */
export type ActivityOutcome = 'recorded' | 'unchanged' | 'own' | 'omitted' | 'none';

/**
 * Records a transaction. There is one record for a hash, whatever the source, order and number of
 * reports.
 */
export async function recordActivity(context: VaultContext, stated: ActivityReport): Promise<ActivityOutcome> {
  const { storage, commits, chains, changes } = context;
  const report = { ...stated, seen: believed(storage, stated) };
  const { hash, seen } = report;
  const vault = context.vault();
  const chain = findChain(chains, report.chain);
  const wallet = vault === null || chain === null ? null : walletAddress(vault, chain.name);
  if (vault === null || chain === null || wallet === null) return 'none';
  const own = storage.activities.ownTransaction(hash);
  if (own !== null) {
    if (seen !== null && seen.block !== null)
      await reviveIfGivenUp(context, own, { hash, blockNumber: seen.block.number });
    await pollOwnNow(context, own);
    return 'own';
  }
  const before = storage.activities.ofHash(chain.name, hash);
  const nowMs = Date.now();
  const { after, kinds } = judgeReport(storage, report, { vault, chain, wallet, before, nowMs });
  const counted = kinds.filter((kind) => !isOmissionWritten(storage, { chain, kind, nowMs }));
  if (after === null && counted.length === 0) return 'none';
  await commits.run(() => {
    for (const kind of counted) countRecord(storage, vault, { chain, kind, nowMs });
    if (after === null) return;
    const action = before !== null && isCorrected(before, after) ? 'correct' : 'observe';
    writeActivity(storage, { before, after, action, actor: null }, chain);
  });
  if (after === null) return 'none';
  if (after === before) return 'unchanged';
  if (after.isOmitted === true) return 'omitted';
  changes.wake(after.id);
  return 'recorded';
}

/** Returns what was seen without what the balances prove for another transaction of the block. */
function believed({ activities }: VaultStorage, report: ActivityReport): ChainTransaction | null {
  const { chain, hash, seen, byBalances = [] } = report;
  if (seen === null || seen.block === null || byBalances.length === 0) return seen;
  if (activities.claimBlock(chain, { blockHash: seen.block.hash, hash })) return seen;
  return { ...seen, movements: seen.movements.filter(({ uid }) => !byBalances.includes(uid)) };
}

interface Reported {
  readonly vault: Vault;
  readonly chain: Chain;
  readonly wallet: string;
  /** The record of the hash; null without one. */
  readonly before: Activity | null;
  readonly nowMs: number;
}

interface Judged {
  /** Null when nothing is recorded; the record of before when nothing changed. */
  readonly after: Activity | null;
  /** The daily limits against which a new record counts. */
  readonly kinds: readonly LimitedKind[];
}

/** Returns the record after a report. A new record above a daily limit is for the ledger alone. */
function judgeReport(storage: VaultStorage, report: ActivityReport, reported: Reported): Judged {
  const { seen, valuation, proof = UNPROVEN } = report;
  const { vault, chain, wallet, before, nowMs } = reported;
  const acquaintance = knownCounterparties(storage, vault, chain);
  const observed = { valuation, chain, acquaintance, nowMs, proof };
  if (before !== null && before.isOmitted !== true)
    return { after: updatedActivity(before, { ...observed, seen }), kinds: [] };
  const posted = new Set(before?.changes.map(({ tokenAddress }) => tokenAddress));
  const alone = seen === null ? null : postedAlone({ ...observed, seen }, posted);
  const omittedStill = before === null ? null : updatedActivity(before, { ...observed, seen: alone, valuation: null });
  if (seen === null || alone === null || valuation === null) return { after: omittedStill, kinds: [] };
  if (seen.block === null && (before !== null || storage.activities.waiting(chain.name) >= MAX_UNCONFIRMED))
    return { after: omittedStill, kinds: [] };
  const id = before?.id ?? newTransactionId(vault.id, nowMs, randomBytes(10));
  const version = (before?.version ?? 0) + 1;
  const recordOf = (part: ChainTransaction) => {
    const record = newActivity({ id, vaultId: vault.id, wallet }, { ...observed, seen: part, valuation });
    return record === null ? null : { ...record, version };
  };
  const after = recordOf(seen);
  const kind = after === null ? null : limitedKind(after, valuation, acquaintance);
  const isFull = (one: LimitedKind) => isLimitReached(storage, { chain, kind: one, nowMs });
  if (kind === null || !isFull(kind)) return { after, kinds: kind === null ? [] : [kind] };
  if (before !== null) return { after: omittedStill, kinds: [] };
  const omitted = seen.block === null ? null : recordOf(alone);
  if (omitted === null || omitted.changes.every(({ units }) => units === '0')) return { after: null, kinds: [kind] };
  return { after: isFull('omitted') ? null : { ...omitted, isOmitted: true }, kinds: [kind, 'omitted'] };
}

/** Returns those of some transactions of a chain that the vault has in its lists. */
export function knownTransactions(
  { vault, storage }: VaultContext,
  { chain, hashes }: { readonly chain: string; readonly hashes: readonly string[] },
): readonly string[] {
  return vault() === null ? [] : storage.activities.listedAmong(chain, hashes);
}

/** Makes the next poll of a recorded transaction due at once, after a report of a change. */
export async function pollActivityNow(
  context: VaultContext,
  { chain, hash }: { readonly chain: string; readonly hash: string },
): Promise<void> {
  const { storage, commits } = context;
  const activity = context.vault() === null ? null : storage.activities.ofHash(chain, hash);
  if (activity === null || !isWatched(activity)) return;
  const { id: transactionId, version } = activity;
  await commits.run(() => storage.enqueueJob({ transactionId, job: 'follow', version, dueAtMs: Date.now(), tries: 0 }));
}

/**
 * Resumes the polling of a transaction that is FAILED without a block but is in one: its record
 * is wrong, and members may pay again. Only one RPC node reports it here. The record changes
 * after a poll of all of them.
 */
async function reviveIfGivenUp(
  context: VaultContext,
  transactionId: string,
  { hash, blockNumber }: { readonly hash: string; readonly blockNumber: string },
): Promise<void> {
  const transaction = context.storage.transaction(transactionId);
  if (transaction?.state !== 'FAILED' || transaction.inclusion !== null) return;
  const { vaultId, attempts } = transaction;
  const purpose = attempts.find(({ signed }) => signed?.hash === hash)?.purpose;
  console.error(JSON.stringify({ event: 'mined-after-failure', vaultId, transactionId, hash, blockNumber, purpose }));
  await recordEvent(context, { id: transaction.id, event: { type: 'watch' } });
}

/** Polls a transaction of the vault at once: a monitor is often earlier than its next poll. */
async function pollOwnNow(context: VaultContext, transactionId: string): Promise<void> {
  const { storage, commits } = context;
  const row = storage.queuedJob(transactionId, 'confirm');
  if (row !== null) await commits.run(() => storage.enqueueJob({ ...row, dueAtMs: Date.now() }));
}

/**
 * Returns what the consumers must poll again, or null. A final record is polled again when the
 * balances differ, or a member requests it.
 */
export function followWork(context: VaultContext, { id }: { readonly id: string }): FollowWork | null {
  const activity = context.storage.activities.read(id);
  const chain = activity === null ? null : findChain(context.chains, activity.chain);
  return activity === null || chain === null || !(isWatched(activity) || isFinalRecord(activity))
    ? null
    : {
        chain,
        hash: activity.hash,
        block: activity.block,
        wallet: activity.wallet,
        needsValuation: needsValuation(activity),
      };
}

/**
 * Sets the visibility for all members, permanently. Returns null when there is no activity with
 * this id. Refuses `forbidden`.
 */
export async function setActivityVisibility(
  context: VaultContext,
  actor: Actor,
  { id, visible }: { readonly id: TransactionId; readonly visible: boolean },
): Promise<Result<ActivityView, Refusal> | null> {
  const found = findActivity(context, actor, { id, permission: 'curate' });
  if (found?.ok !== true || found.value.activity.visibilityChoice === visible) return found;
  const { storage, commits, chains } = context;
  const before = found.value.activity;
  const chosen = { ...before, visibilityChoice: visible, version: before.version + 1, updatedAtMs: Date.now() };
  const after: Activity = shown(chosen);
  const chain = findChain(chains, after.chain) ?? { pollIntervalMs: 0, tokens: [] };
  await commits.run(() => writeActivity(storage, { before, after, action: 'setVisibility', actor }, chain));
  context.changes.wake(id);
  return accepted({ ...found.value, activity: after });
}

/** Returns the activity, or null when there is none with this id. Refuses `forbidden`. */
export function findActivity(
  context: VaultContext,
  actor: Actor,
  { id, permission }: { readonly id: TransactionId; readonly permission: Permission },
): Result<ActivityView, Refusal> | null {
  const activity = context.vault() === null ? null : context.storage.activities.read(id);
  if (activity === null) return null;
  const entered = authorize(context.vault(), actor, permission);
  if (!entered.ok) return refused(entered.refusal);
  return accepted({ activity, policy: entered.value.vault.policy, viewer: entered.value.viewer });
}
