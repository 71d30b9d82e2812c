import { DAY_MS } from '#domain/policy/rules.ts';
import { authorize } from '#domain/access/membership.ts';
import { randomBytes } from '@noble/hashes/utils.js';
import type { Valuation } from '#domain/asset/valuation.ts';
import { knownCounterparties } from '#objects/vault/writes/known-counterparties.ts';
import { findChain } from '#chains/registry.ts';
import type { Activity, ChainTransaction } from '#domain/activity/activity.ts';
import {
  newActivity,
  isWatched,
  MAX_UNCONFIRMED,
  updatedActivity,
  shown,
  needsValuation,
} from '#domain/activity/activity.ts';
import type { TransactionId } from '#domain/id.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Permission } from '#domain/access/member.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import { MAX_SPAM_PER_DAY } from '#domain/activity/spam.ts';
import type { Vault } from '#domain/vault.ts';
import { walletAddress } from '#domain/vault.ts';
import { recordEvent } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { ActivityView, FollowWork } from '#objects/vault/views.ts';
import { writeActivity, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

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
}

/**
 * `own`: the vault made it and has a record of it. `none`: it does not concern the vault, or does
 * not exist.
 */
export type ActivityOutcome = 'recorded' | 'unchanged' | 'own' | 'none';

/**
 * Records a transaction. There is one record for a hash, whatever the source, order and number of
 * reports.
 */
export async function recordActivity(
  context: VaultContext,
  { chain: name, hash, seen, valuation }: ActivityReport,
): Promise<ActivityOutcome> {
  const { storage, commits, chains, changes } = context;
  const vault = context.vault();
  const chain = findChain(chains, name);
  const wallet = vault === null || chain === null ? null : walletAddress(vault, chain.name);
  if (vault === null || chain === null || wallet === null) return 'none';
  const own = storage.activities.ownTransaction(hash);
  if (own !== null) {
    if (seen !== null && seen.block !== null)
      await reviveIfGivenUp(context, own, { hash, blockNumber: seen.block.number });
    await pollOwnNow(context, own);
    return 'own';
  }
  const nowMs = Date.now();
  const before = storage.activities.ofHash(chain.name, hash);
  const observed = { valuation, chain, acquaintance: knownCounterparties(storage, vault, chain), nowMs };
  const identity = () => ({ id: newTransactionId(vault.id, nowMs, randomBytes(10)), vaultId: vault.id, wallet });
  const first = () => {
    if (seen === null || valuation === null) return null;
    if (seen.block === null && storage.activities.waiting(chain.name) >= MAX_UNCONFIRMED) return null;
    return newActivity(identity(), { ...observed, seen, valuation });
  };
  const after = before === null ? first() : updatedActivity(before, { ...observed, seen });
  if (after === null) return 'none';
  const day = Math.floor(nowMs / DAY_MS);
  const isSpam = before === null && after.suspicion !== null;
  const spam = isSpam ? storage.activities.spamOn(chain.name, day) : 0;
  if (spam > MAX_SPAM_PER_DAY) return 'none';
  if (spam === MAX_SPAM_PER_DAY) {
    await omitSpam(context, vault, { chain: chain.name, day });
    return 'none';
  }
  await commits.run(() => {
    if (isSpam) storage.activities.countSpam(chain.name, day);
    writeActivity(storage, { before, after, action: 'observe', actor: null }, chain);
  });
  if (after === before) return 'unchanged';
  changes.wake(after.id);
  return 'recorded';
}

/** Records once for a chain and day that its further spam is not recorded. */
async function omitSpam(
  { storage, commits }: VaultContext,
  vault: Vault,
  { chain, day }: { readonly chain: string; readonly day: number },
): Promise<void> {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  await commits.run(() => {
    storage.activities.countSpam(chain, day);
    const detail = JSON.stringify({ chain, date, recorded: MAX_SPAM_PER_DAY });
    writeVaultChange(storage, vault, { action: 'omit-spam', detail, actor: null });
  });
  console.error(JSON.stringify({ event: 'spam-omitted', vaultId: vault.id, chain, date }));
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

/** Returns what the consumers must poll again, or null. */
export function followWork(context: VaultContext, _consumer: null, { id }: { readonly id: string }): FollowWork | null {
  const activity = context.storage.activities.read(id);
  const chain = activity === null ? null : findChain(context.chains, activity.chain);
  return activity === null || chain === null || !isWatched(activity)
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
