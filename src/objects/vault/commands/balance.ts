import type { Holdings } from '#chains/chain-adapter.ts';
import { findChain } from '#chains/registry.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Balance } from '#domain/asset/balance.ts';
import { compare, nextComparisonMs } from '#domain/asset/balance.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { Actor, Transaction } from '#domain/transaction/transaction.ts';
import type { Vault } from '#domain/vault.ts';
import { walletAddress } from '#domain/vault.ts';
import type { ChainAsset } from '#objects/vault/tables/balance-table.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { RESEND_MS } from '#objects/vault/outbox.ts';
import type { Wallet } from '#objects/vault/wallets.ts';
import { walletsOf } from '#objects/vault/wallets.ts';
import { enqueueReconciliation, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** What of one wallet is to be compared with its chain. */
export interface ReconcileWork {
  readonly chain: Chain;
  readonly address: string;
  readonly assets: readonly ChainAsset[];
  /** Something differs already: what is said now may change a balance. */
  readonly hasDiscrepancy: boolean;
}

/** What its chain says of them; null when it can not be asked. */
export interface HoldingsReport {
  readonly chain: string;
  readonly assets: readonly ChainAsset[];
  readonly held: Holdings | null;
  /** Before the chain was asked, a look through its blocks had not come to its end. */
  readonly hasOpenScan: boolean;
}

/** The blocks to look through: after the one at which ledger and chain agreed last; null when they never did. */
export interface BlockRange {
  readonly since: string | null;
}

/** A balance with what is not in it yet; amounts in the asset's smallest unit. */
export interface BalanceView extends ChainAsset {
  readonly wallet: string;
  /** False where only hidden records have moved it: it is not compared with its chain either. */
  readonly visible: boolean;
  readonly balance: Balance;
  /** With what is in blocks that may still go: what the chain says now. */
  readonly current: bigint;
  /** In blocks that may still go. */
  readonly incoming: bigint;
  /** In such blocks, or decided and on its way there; fees only once they are paid. */
  readonly outgoing: bigint;
}

/** So many questions to a node in one go: a stranger can give a wallet any number of tokens. */
const MAX_COMPARED_AT_ONCE = 50;
/** A chain that could not be asked is asked again after so many polls. */
const UNREACHABLE_POLLS = 60;

/** What the wallets of a vault have, and whether their chains agree. */
export class BalanceCommands {
  readonly #host: VaultContext;

  constructor(host: VaultContext) {
    this.#host = host;
  }

  /** One page, after the last one of the page before. Refuses `forbidden`. */
  balances(
    actor: Actor,
    after: Omit<ChainAsset, 'kind'> | null,
    requested: { readonly limit: number; readonly hiddenToo: boolean },
  ): Result<readonly BalanceView[], Refusal> {
    const entered = this.#host.authorize(actor, 'view');
    if (!entered.ok) return entered;
    const inFlight = this.#host.storage.transactionsInFlight();
    const page = this.#host.storage.balances.page(after, requested);
    return accepted(page.map((row) => this.#view(entered.value.vault, row, inFlight)));
  }

  /** The balances of some assets; of one that never moved there is none. */
  views(vault: Vault, assets: readonly ChainAsset[]): readonly BalanceView[] {
    const inFlight = this.#host.storage.transactionsInFlight();
    return assets.flatMap((asset) => {
      const balance = this.#host.storage.balances.balance(asset);
      return balance === null ? [] : [this.#view(vault, { ...balance, chain: asset.chain }, inFlight)];
    });
  }

  /**
   * Returns the wallets that there are by now, for a person who has them looked through. The next look at each record that is not final, and
   * the comparison with the chains, are due at once. Refuses `forbidden`.
   */
  async requestRescan(actor: Actor): Promise<Result<readonly Wallet[], Refusal>> {
    const entered = this.#host.authorize(actor, 'curate');
    if (!entered.ok) return entered;
    const { storage, commits } = this.#host;
    const nowMs = Date.now();
    await commits.run(() => {
      storage.pollRecordsNow(nowMs, nowMs + RESEND_MS);
      storage.balances.pollNow(nowMs);
      enqueueReconciliation(storage);
    });
    return accepted(walletsOf(entered.value.vault));
  }

  #view(vault: Vault, row: ChainAsset & Balance, inFlight: readonly Transaction[]): BalanceView {
    const { chain, kind, tokenAddress, tokenId, ...balance } = row;
    const open = this.#host.storage.balances.openLines(row).map(({ units }) => unitsOf(units));
    const leaving = tokenId === null ? inFlight.map((one) => unitsLeaving(one, { chain, tokenAddress })) : [];
    const sum = (units: readonly bigint[]) => units.reduce((total, one) => total + one, 0n);
    return {
      chain,
      kind,
      tokenAddress,
      tokenId,
      wallet: walletAddress(vault, chain) ?? '',
      visible: this.#host.storage.balances.isSeen(row),
      balance: { kind, tokenAddress, tokenId, ...balance },
      current: unitsOf(balance.final) + sum(open),
      incoming: sum(open.filter((units) => units > 0n)),
      outgoing: sum(leaving) - sum(open.filter((units) => units < 0n)),
    };
  }

  /** For the consumers: what is due to be compared. */
  work(): readonly ReconcileWork[] {
    const vault = this.#host.vault();
    if (vault === null) return [];
    const due = this.#host.storage.balances.due(Date.now(), MAX_COMPARED_AT_ONCE);
    return [...Map.groupBy(due, ({ chain }) => chain)].flatMap(([name, assets]) => {
      const [chain, address] = [findChain(this.#host.chains, name), walletAddress(vault, name)];
      const hasDiscrepancy = assets.some(({ difference }) => difference !== null);
      return chain === null || address === null ? [] : [{ chain, address, assets, hasDiscrepancy }];
    });
  }

  /** Gives where to look into what differs, and did not before; null when there is nothing of the kind. */
  async record({ chain: name, assets, held, hasOpenScan }: HoldingsReport): Promise<BlockRange | null> {
    const { storage, commits, chains } = this.#host;
    const vault = this.#host.vault();
    const chain = findChain(chains, name);
    if (vault === null || chain === null) return null;
    const nowMs = Date.now();
    const isMoving = storage.transactionsInFlight().some((one) => one.chain === name);
    const agreedAt: (string | null)[] = [];
    await commits.run(() => {
      for (const [index, asset] of assets.entries()) {
        const before = storage.balances.balance(asset);
        const units = held?.amounts[index] ?? null;
        if (before === null) continue;
        if (held === null || units === null) {
          storage.balances.schedule(asset, nowMs + UNREACHABLE_POLLS * chain.pollIntervalMs);
          continue;
        }
        const { blockNumber } = held;
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
        if (needsScan(before, after, isMoving)) agreedAt.push(before.check?.blockNumber ?? null);
        if (after.adjustment !== before.adjustment) this.#logDifference(vault, name, after);
      }
      enqueueReconciliation(storage);
    });
    return agreedAt.length === 0 ? null : { since: oldestOf(agreedAt) };
  }

  /** A line in the history of the vault, which is what an auditor reads. */
  #logDifference(vault: Vault, chain: string, { kind, tokenAddress, tokenId, adjustment }: Balance): void {
    if (adjustment === null) return;
    const { reason, units, fromBlock, toBlock } = adjustment;
    const detail = JSON.stringify({ chain, kind, tokenAddress, tokenId, units, fromBlock, toBlock });
    writeVaultChange(this.#host.storage, vault, { action: 'adjust-balance', detail, reason, actor: null });
    console.error(JSON.stringify({ event: 'balance-adjusted', vaultId: vault.id, chain, reason }));
  }
}

/** One that is another each time, because the wallet is never at rest, is looked into once. */
function needsScan(before: Balance, after: Balance, isMoving: boolean): boolean {
  if (after.difference === null || after.difference.units === before.difference?.units) return false;
  return before.difference === null || !isMoving;
}

/** Null, where one of them never agreed: from nowhere on. */
function oldestOf(blocks: readonly (string | null)[]): string | null {
  const known = blocks.filter((block) => block !== null).map(BigInt);
  if (known.length < blocks.length) return null;
  return known.reduce((least, block) => (block < least ? block : least)).toString();
}

/** What a transaction that is not in a block yet will take out of the wallet. */
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
