import * as z from 'zod';
import { exactly, readableOrNull } from '#store/document.ts';
import { authorize } from '#domain/vault/membership.ts';
import type { Asset } from '#domain/asset/movement.ts';
import { assetKey, fungibleKindOn, NATIVE } from '#domain/asset/movement.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import type { BalancePage } from '#objects/vault/views.ts';
import { balancesOf } from '#objects/vault/commands/balance.ts';
import type { ChainAsset } from '#objects/vault/tables/balance-table.ts';
import { assetFields } from '#objects/vault/documents/fields.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { SharedChanges } from '#objects/vault/feed-cache.ts';
import type { HistoryPosition } from '#objects/vault/tables/history-table.ts';
import { BEGINNING } from '#objects/vault/tables/history-table.ts';
import { recordDocuments } from '#objects/vault/projection.ts';
import type { ActivityView, TransactionView, VaultScope } from '#objects/vault/views.ts';

/** The key under which an entry in the history wakes the vault's change signal. */
export const FEED_SIGNAL = 'feed';

/**
 * The changes in a vault since a reader's last request, in their current state: each record is
 * included once, however often it changed.
 */
export interface VaultChanges extends BalancePage {
  /** The number of the newest history entry that is covered. The reader continues after it. */
  readonly seq: number;
  readonly transactions: readonly (TransactionView | ActivityView)[];
}

const chainAsset = exactly<ChainAsset>()({ chain: z.string(), ...assetFields });

/** Records are large. A reader that was disconnected for long needs several answers. */
const LINES_AT_ONCE = 50;

/**
 * The feed of an open dashboard (spec part 6). It follows from the history alone, so nothing is
 * stored for it.
 */

/** Returns the number of the newest entry, for a new reader. Refuses `forbidden`. */
export function beginFeed(context: VaultContext, actor: Actor): Result<number, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  return entered.ok ? accepted(context.storage.history.length()) : entered;
}

/**
 * Returns everything after an entry: at once when there is something, else at the next change or
 * when the time is over. Refuses `forbidden`.
 */
export async function nextChanges(
  context: VaultContext,
  actor: Actor,
  { after, waitMs }: { readonly after: number; readonly waitMs: number },
): Promise<Result<VaultChanges, Refusal>> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  if (context.storage.history.length() <= after) await context.changes.next(FEED_SIGNAL, waitMs);
  return changesAfter(context, actor, after);
}

/**
 * Membership is checked again after the wait: a removed member receives nothing. The changes are
 * the same for all readers, so a commit is read once, however many readers wait for it.
 */
function changesAfter(context: VaultContext, actor: Actor, after: number): Result<VaultChanges, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const { seq, records, balances } = context.feed.at(context.commits.count, after, () =>
    readChanges(context, vault, after),
  );
  const scope = { policy: vault.policy, viewer };
  return accepted({
    seq,
    transactions: records.map((record) => ({ ...record, ...scope })),
    balances,
    rules: vault.policy.rules,
  });
}

/**
 * An entry of the history, with its hash and the present record of its transaction. Both are
 * documents, as the read model has them: texts are transferred and read again for a fraction of the
 * cost of objects.
 */
interface VaultChange extends HistoryPosition {
  readonly entry: string;
  readonly record: string | null;
}

/** Some changes, the oldest first, and the position after them. */
export interface ChangePage extends VaultScope {
  readonly changes: readonly VaultChange[];
  readonly position: HistoryPosition;
}

interface FeedRequest {
  /** Null begins with the first change, and `latest` after the newest one. */
  readonly after: HistoryPosition | 'latest' | null;
  readonly limit: number;
  readonly waitMs: number;
}

/**
 * Returns the next changes for a client, in the order of the history: at once when there are any,
 * else at the next change or when the time is over. Null for a position that this history does not
 * have. Refuses `forbidden`.
 */
export async function readFeed(
  context: VaultContext,
  actor: Actor,
  { after, limit, waitMs }: FeedRequest,
): Promise<Result<ChangePage | null, Refusal>> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { history } = context.storage;
  const from = after === 'latest' ? history.newest() : (after ?? BEGINNING);
  if (!history.has(from)) return accepted(null);
  if (waitMs > 0 && history.length() <= from.seq) await context.changes.next(FEED_SIGNAL, waitMs);
  return changesFrom(context, actor, { from, limit });
}

/** Membership is checked again after the wait: a removed member receives nothing. */
function changesFrom(
  context: VaultContext,
  actor: Actor,
  { from, limit }: { readonly from: HistoryPosition; readonly limit: number },
): Result<ChangePage, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const lines = context.storage.history.lines(from.seq, limit);
  const ids = new Set(lines.flatMap(({ entry }) => entry?.transactionId ?? []));
  const records = recordDocuments(context.storage, ids);
  const changes = lines.flatMap(({ entry, document, seq, hash }): readonly VaultChange[] =>
    entry === null ? [] : [{ seq, hash, entry: document, record: records.get(entry.transactionId) ?? null }],
  );
  // Not that of the last change: a reader must get past an unreadable entry.
  const last = lines.at(-1);
  const position = last === undefined ? from : { seq: last.seq, hash: last.hash };
  return accepted({ changes, position, policy: vault.policy, viewer });
}

function recordIn({ storage }: VaultContext, { id: vaultId }: Vault, id: string) {
  const transaction = readableOrNull(() => storage.transaction(id), { vaultId, id });
  if (transaction !== null) return { transaction };
  const activity = readableOrNull(() => storage.activities.read(id), { vaultId, id });
  return activity === null ? null : { activity };
}

function readChanges(context: VaultContext, vault: Vault, after: number): SharedChanges {
  const { storage } = context;
  const lines = storage.history.after(after, LINES_AT_ONCE);
  const records: SharedChanges['records'][number][] = [];
  const assets = new Map<string, ChainAsset>();
  const touch = (chain: string, asset: Asset) => assets.set(`${chain} ${assetKey(asset)}`, { ...asset, chain });
  for (const id of new Set(lines.flatMap(({ transactionId }) => transactionId ?? []))) {
    const found = recordIn(context, vault, id);
    if (found === null) continue;
    records.push(found);
    const transaction = 'transaction' in found ? found.transaction : null;
    const record = 'activity' in found ? found.activity : found.transaction;
    const moved = 'activity' in found ? found.activity : found.transaction.inclusion;
    touch(record.chain, NATIVE);
    for (const { kind, tokenAddress, tokenId } of moved?.changes ?? []) {
      touch(record.chain, { kind, tokenAddress, tokenId });
    }
    const exposure = transaction?.exposure;
    // A message for another chain moves nothing on the chain of its record.
    const isOfRecord = exposure?.chain === transaction?.intent.chain;
    for (const { tokenAddress } of isOfRecord ? (exposure?.movements ?? []) : []) {
      const kind = fungibleKindOn(exposure?.chain ?? '');
      if (tokenAddress !== null) touch(record.chain, { kind, tokenAddress, tokenId: null });
    }
  }
  for (const asset of lines.flatMap(adjustedAsset)) touch(asset.chain, asset);
  const balances = balancesOf(context, vault, [...assets.values()]);
  // Not the number of the last line: a reader must get past an unreadable one.
  const seq = Math.max(after, Math.min(after + LINES_AT_ONCE, storage.history.length()));
  return { seq, records, balances };
}

/** Returns the asset of an adjustment. `BalanceCommands` writes the entry. */
function adjustedAsset({ action, detail }: HistoryEntry): readonly ChainAsset[] {
  if (action !== 'adjust-balance' || detail === null) return [];
  const read = chainAsset.safeParse(JSON.parse(detail));
  return read.success ? [read.data] : [];
}
