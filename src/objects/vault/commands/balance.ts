import { authorize } from '#domain/vault/membership.ts';
import type { Holdings, Reading } from '#chains/chain-client.ts';
import { findChain } from '#chains/families/registry.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { Balance } from '#domain/asset/balance.ts';
import { compare, nextComparisonMs } from '#domain/asset/balance.ts';
import type { Valuation } from '#domain/asset/valuation.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { walletAddress } from '#domain/vault/vault.ts';
import type { ChainAsset } from '#objects/vault/tables/balance-table.ts';
import type { BalancePage, BalanceView } from '#objects/vault/views.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { RESEND_MS } from '#objects/outbox.ts';
import type { Wallet } from '#objects/vault/wallets.ts';
import { walletsOf } from '#objects/vault/wallets.ts';
import { judgeListed } from '#objects/vault/writes/listed-tokens.ts';
import { judgePriced } from '#objects/vault/writes/priced-records.ts';
import { enqueueReconciliation, recheckFinal, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** The assets of one wallet that must be compared with its chain. */
export interface ReconcileWork {
  readonly chain: Chain;
  readonly address: string;
  readonly assets: readonly ChainAsset[];
  /** There is a difference already, so this report may change a balance. */
  readonly hasDiscrepancy: boolean;
}

/** The chain's report on the assets; null when it was unavailable. */
export interface HoldingsReport {
  readonly chain: string;
  readonly assets: readonly ChainAsset[];
  readonly held: Holdings | null;
  /**
   * True when a scan of the chain's blocks for this wallet was still open before the balances were
   * read.
   */
  readonly hasOpenScan: boolean;
}

/**
 * The blocks to scan: after the last one at which balances and chain agreed; null when they never
 * did.
 */
export interface BlockRange {
  readonly since: string | null;
}

/**
 * The maximum number of assets in one comparison: a stranger can send a wallet any number of
 * tokens.
 */
const MAX_COMPARED_AT_ONCE = 50;
/** The maximum number of final records that are polled again at once. */
const MAX_RECHECKED = 100;
/** The number of polls after which an unavailable chain is read again. */
const UNREACHABLE_POLLS = 60;

/** The commands for the balances of a vault's wallets and their comparison with the chains. */

/** Returns one page, after the last balance of the previous page. Refuses `forbidden`. */
export function listBalances(
  context: VaultContext,
  actor: Actor,
  {
    after,
    ...page
  }: { readonly after: Omit<ChainAsset, 'kind'> | null; readonly limit: number; readonly hiddenToo: boolean },
): Result<BalancePage, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const inFlight = context.storage.transactionsInFlight();
  const rows = context.storage.balances.page(after, page);
  const { vault } = entered.value;
  const balances = rows.map((row) => viewOf(context, row, { vault, inFlight }));
  return accepted({ balances, rules: vault.policy.rules });
}

/** Returns the balances of some assets, without those that never moved. */
export function balancesOf(context: VaultContext, vault: Vault, assets: readonly ChainAsset[]): readonly BalanceView[] {
  const inFlight = context.storage.transactionsInFlight();
  return assets.flatMap((asset) => {
    const balance = context.storage.balances.balance(asset);
    return balance === null ? [] : [viewOf(context, { ...balance, chain: asset.chain }, { vault, inFlight })];
  });
}

/**
 * Returns the existing wallets for a requested scan. The next poll of each record that is not
 * final, and the comparison with the chains, are due at once. The newest final records are
 * polled again, too. Refuses `forbidden`.
 */
export async function requestRescan(context: VaultContext, actor: Actor): Promise<Result<readonly Wallet[], Refusal>> {
  const entered = authorize(context.vault(), actor, 'curate');
  if (!entered.ok) return entered;
  const { storage, commits } = context;
  const wallets = walletsOf(entered.value.vault);
  const nowMs = Date.now();
  await commits.run(() => {
    storage.pollRecordsNow(nowMs, nowMs + RESEND_MS);
    storage.balances.pollNow(nowMs);
    recheckFinal(storage, storage.activities.newest(MAX_RECHECKED), nowMs);
    enqueueReconciliation(storage);
  });
  return accepted(wallets);
}

function viewOf(
  context: VaultContext,
  row: ChainAsset & Balance,
  { vault, inFlight }: { readonly vault: Vault; readonly inFlight: readonly Transaction[] },
): BalanceView {
  const { chain, kind, tokenAddress, tokenId, ...balance } = row;
  const open = context.storage.balances.openLines(row).map(({ units }) => unitsOf(units));
  const leaving = tokenId === null ? inFlight.map((one) => unitsLeaving(one, { chain, tokenAddress })) : [];
  const sum = (units: readonly bigint[]) => units.reduce((total, one) => total + one, 0n);
  const outgoingMined = -sum(open.filter((units) => units < 0n));
  return {
    chain,
    kind,
    tokenAddress,
    tokenId,
    wallet: walletAddress(vault, chain) ?? '',
    visible: context.storage.balances.isSeen(row),
    balance: { kind, tokenAddress, tokenId, ...balance },
    current: unitsOf(balance.final) + sum(open),
    incoming: sum(open.filter((units) => units > 0n)),
    outgoing: sum(leaving) + outgoingMined,
    outgoingMined,
  };
}

/** Returns the tokens of a wallet for a scan: those that differ from the chain first. */
export function scanTokens(context: VaultContext, { chain }: { readonly chain: string }): readonly string[] {
  if (context.vault() === null) return [];
  const tokens = context.storage.balances.compared(chain, MAX_COMPARED_AT_ONCE);
  return tokens.flatMap(({ tokenAddress }) => tokenAddress ?? []);
}

/** Returns the comparisons that are due, for the consumers. */
export function reconcileWork(context: VaultContext): readonly ReconcileWork[] {
  const vault = context.vault();
  if (vault === null) return [];
  const due = context.storage.balances.due(Date.now(), MAX_COMPARED_AT_ONCE);
  return [...Map.groupBy(due, ({ chain }) => chain)].flatMap(([name, assets]) => {
    const [chain, address] = [findChain(context.chains, name), walletAddress(vault, name)];
    const hasDiscrepancy = assets.some(({ difference }) => difference !== null);
    return chain === null || address === null ? [] : [{ chain, address, assets, hasDiscrepancy }];
  });
}

/** Records a comparison. Returns the blocks to scan for a new difference, or null without one. */
export async function recordHoldings(
  context: VaultContext,
  { chain: name, assets, held, hasOpenScan }: HoldingsReport,
): Promise<BlockRange | null> {
  const { storage, commits, chains } = context;
  const vault = context.vault();
  const chain = findChain(chains, name);
  if (vault === null || chain === null) return null;
  const nowMs = Date.now();
  const isMoving = storage.transactionsInFlight().some((one) => one.chain === name);
  const agreedAt: (string | null)[] = [];
  await commits.run(() => {
    for (const [index, asset] of assets.entries()) {
      const reading = held?.readings[index];
      const before = trusted(storage.balances.balance(asset), reading, chain);
      if (before === null) continue;
      if (showsNothing(reading) && isUnused(storage, before, name)) {
        storage.balances.unschedule(asset);
        continue;
      }
      if (reading?.state !== 'covered' || movesWithin(storage, asset, reading)) {
        storage.balances.schedule(asset, nowMs + UNREACHABLE_POLLS * chain.pollIntervalMs);
        continue;
      }
      const { blockNumber, units } = reading;
      const { pollIntervalMs } = chain;
      const after = compare(before, {
        blockNumber,
        chainUnits: unitsOf(units),
        ...storage.balances.standAt(asset, blockNumber),
        atMs: nowMs,
        pollIntervalMs,
        hasOpenScan,
        isMoving,
      });
      storage.balances.put(name, after);
      storage.balances.schedule(asset, nextComparisonMs(after, nowMs, pollIntervalMs));
      if (needsScan(before, after, isMoving)) {
        const since = before.check?.blockNumber ?? null;
        agreedAt.push(since);
        recheckFinal(storage, storage.balances.finalRecordsOf(asset, since, MAX_RECHECKED), nowMs);
      }
      if (after.adjustment !== before.adjustment) logDifference(storage, vault, { ...after, chain: name });
    }
    judgeListed(storage, { chain, rules: vault.policy.rules }, nowMs);
    enqueueReconciliation(storage);
  });
  return agreedAt.length === 0 ? null : { since: oldestOf(agreedAt) };
}

/** Judges hidden records again by the prices that a comparison has read. */
export async function recordPrices(
  context: VaultContext,
  { chain: name, valuation }: { readonly chain: string; readonly valuation: Valuation },
): Promise<void> {
  const chain = context.vault() === null ? null : findChain(context.chains, name);
  if (chain === null) return;
  await context.commits.run(() => judgePriced(context.storage, chain, { valuation, nowMs: Date.now() }));
}

/**
 * Returns the balance without its last check when that is impossibly far ahead of the reading. One
 * RPC node can state such a block, and each later comparison would count as an older one.
 */
function trusted(balance: Balance | null, reading: Reading | undefined, chain: Chain): Balance | null {
  if (reading?.state !== 'covered' || balance === null || balance.check === null) return balance;
  const isFarAhead = BigInt(balance.check.blockNumber) - BigInt(reading.blockNumber) > maxLagBlocks(chain);
  return isFarAhead ? { ...balance, check: null } : balance;
}

/**
 * Reports whether records change the balance between the blocks of two RPC nodes. One node can lie,
 * also about its block, so the records of the other one's block must be the same.
 */
function movesWithin(
  storage: VaultStorage,
  asset: ChainAsset,
  { blockNumber, lastBlock }: { readonly blockNumber: string; readonly lastBlock: string },
): boolean {
  const recordedAt = (block: string) => storage.balances.standAt(asset, block).recordedUnits;
  return blockNumber !== lastBlock && recordedAt(blockNumber) !== recordedAt(lastBlock);
}

/** Reports whether the chain states that the wallet has nothing. What is not read may be there. */
function showsNothing(reading: Reading | undefined): boolean {
  return reading?.state === 'no-balance' || (reading?.state === 'covered' && reading.units === '0');
}

/** Reports whether nothing was ever recorded of a token, and no comparison found any. */
function isUnused(storage: VaultStorage, { check, final, ...asset }: Balance, chain: string): boolean {
  const isRecorded = final !== '0' || storage.balances.openLines({ ...asset, chain }).length > 0;
  return asset.tokenAddress !== null && check === null && !isRecorded;
}

/** Adds an entry to the vault's history, which auditors read. */
function logDifference(
  storage: VaultStorage,
  vault: Vault,
  { chain, kind, tokenAddress, tokenId, adjustment }: Balance & { readonly chain: string },
): void {
  if (adjustment === null) return;
  const { reason, units, fromBlock, toBlock } = adjustment;
  const detail = JSON.stringify({ chain, kind, tokenAddress, tokenId, units, fromBlock, toBlock });
  writeVaultChange(storage, vault, { action: 'adjust-balance', detail, reason, actor: null });
  console.error(JSON.stringify({ event: 'balance-adjusted', vaultId: vault.id, chain, reason }));
}

/**
 * Reports whether a difference needs a scan. One that varies each time, because the wallet is never
 * at rest, is scanned for once.
 */
function needsScan(before: Balance, after: Balance, isMoving: boolean): boolean {
  if (after.difference === null || after.difference.units === before.difference?.units) return false;
  return before.difference === null || !isMoving;
}

/** Returns the oldest block, or null when one of them never agreed: the scan has no start. */
function oldestOf(blocks: readonly (string | null)[]): string | null {
  const known = blocks.filter((block) => block !== null).map(BigInt);
  if (known.length < blocks.length) return null;
  return known.reduce((least, block) => (block < least ? block : least)).toString();
}

/** Returns what a transaction that is not in a block yet will take from the wallet. */
function unitsLeaving(
  { intent, chain }: Transaction,
  asset: { readonly chain: string; readonly tokenAddress: string | null },
): bigint {
  if (chain !== asset.chain) return 0n;
  switch (intent.kind) {
    case 'transfer':
      return intent.tokenAddress === asset.tokenAddress ? unitsOf(intent.amount) : 0n;
    case 'contract-interaction':
      return asset.tokenAddress === null ? unitsOf(intent.value) : 0n;
    case 'erc20-approve':
    case 'message':
      return 0n;
  }
}
