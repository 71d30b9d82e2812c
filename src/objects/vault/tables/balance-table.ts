import { balanceCodec } from '#objects/vault/documents/activity-documents.ts';
import { signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { SignedAmount } from '#domain/asset/amount.ts';
import type { Balance, Comparison, BalanceLine, Posting } from '#domain/asset/balance.ts';
import { newBalance } from '#domain/asset/balance.ts';
import type { Asset, AssetKind } from '#domain/asset/movement.ts';
import { assetKey } from '#domain/asset/movement.ts';

/**
 * A transaction has one line for an asset, so nothing is counted twice. The lines stay, so that an
 * auditor can sum them up. An empty text stands for null, which no key can hold. A balance without
 * a due comparison was moved only by what is hidden: strangers can send a wallet ten thousand
 * tokens, which are not compared every hour.
 */
export const BALANCE_TABLES = `
  CREATE TABLE ledger (record_id TEXT NOT NULL, chain TEXT NOT NULL, kind TEXT NOT NULL, token_address TEXT NOT NULL, token_id TEXT NOT NULL, units TEXT NOT NULL, block INTEGER NOT NULL, final INTEGER NOT NULL CHECK (final IN (0, 1)), PRIMARY KEY (record_id, token_address, token_id)) WITHOUT ROWID;
  CREATE INDEX ledger_asset ON ledger (chain, token_address, token_id, block);
  CREATE INDEX ledger_open ON ledger (chain, token_address, token_id) WHERE final = 0;
  CREATE TABLE balance (chain TEXT NOT NULL, token_address TEXT NOT NULL, token_id TEXT NOT NULL, final TEXT NOT NULL, due_at_ms INTEGER, document TEXT NOT NULL, PRIMARY KEY (chain, token_address, token_id));
  CREATE INDEX balance_due ON balance (due_at_ms);
`;

/** Finds the visible balances without reading those of hidden records. */
export const VISIBLE_BALANCE_INDEX =
  'CREATE INDEX balance_visible ON balance (chain, token_address, token_id) WHERE due_at_ms IS NOT NULL;';

/** An asset of one wallet: a vault has one wallet on each chain. */
export interface ChainAsset extends Asset {
  readonly chain: string;
}

interface StoredLine extends BalanceLine {
  readonly block: bigint;
  readonly isFinal: boolean;
}

interface LineRow extends Record<string, SqlStorageValue> {
  readonly kind: string;
  readonly token_address: string;
  readonly token_id: string;
  readonly units: string;
  readonly block: number;
  readonly final: number;
}

/** The record of a transaction, and which of its assets it shows. */
export interface PostedRecord {
  readonly recordId: string;
  readonly chain: string;
  readonly isSeen: (asset: Asset) => boolean;
}

interface BalanceRow extends Record<string, SqlStorageValue> {
  readonly chain: string;
  readonly document: string;
}

/** By this time, reports about a new wallet or a new token are processed. */
const FIRST_COMPARISON_MS = 60 * 60 * 1000;

const LINE = 'kind, token_address, token_id, units, block, final';

/**
 * A vault object's storage of balances. Every write happens inside the object's `transactionSync`.
 */
export class BalanceTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /**
   * Opens the balance of an asset, and schedules its comparison with the chain when it is visible.
   * Reports whether the comparison is new.
   */
  open(asset: ChainAsset, isSeen: boolean): boolean {
    if (this.balance(asset) === null) this.put(asset.chain, newBalance(asset));
    if (!isSeen || this.isSeen(asset)) return false;
    this.schedule(asset, Date.now() + FIRST_COMPARISON_MS);
    return true;
  }

  /** Reports whether anything has moved it that is shown. */
  isSeen({ chain, tokenAddress, tokenId }: Omit<ChainAsset, 'kind'>): boolean {
    const seen =
      'SELECT 1 FROM balance WHERE chain = ? AND token_address = ? AND token_id = ? AND due_at_ms IS NOT NULL';
    return this.#sql.exec(seen, chain, tokenAddress ?? '', tokenId ?? '').toArray().length > 0;
  }

  /** Reports whether the default list has the token, or one of the tokens of a collection. */
  showsToken(chain: string, tokenAddress: string): boolean {
    const seen = 'SELECT 1 FROM balance WHERE chain = ? AND token_address = ? AND due_at_ms IS NOT NULL LIMIT 1';
    return this.#sql.exec(seen, chain, tokenAddress).toArray().length > 0;
  }

  /** Returns the contracts of the tokens and collections of the default list. */
  shownTokens(chain: string): ReadonlySet<string> {
    const seen =
      "SELECT DISTINCT token_address FROM balance WHERE chain = ? AND token_address <> '' AND due_at_ms IS NOT NULL";
    const rows = this.#sql.exec<{ token_address: string }>(seen, chain).toArray();
    return new Set(rows.map((row) => row.token_address));
  }

  /** Schedules the next comparison. */
  schedule({ chain, tokenAddress, tokenId }: Omit<ChainAsset, 'kind'>, dueAtMs: number): void {
    const due = 'UPDATE balance SET due_at_ms = ? WHERE chain = ? AND token_address = ? AND token_id = ?';
    this.#sql.exec(due, dueAtMs, chain, tokenAddress ?? '', tokenId ?? '');
  }

  /** Ends the comparisons of an asset that the wallet never had. */
  unschedule({ chain, tokenAddress, tokenId }: Omit<ChainAsset, 'kind'>): void {
    const due = 'UPDATE balance SET due_at_ms = NULL WHERE chain = ? AND token_address = ? AND token_id = ?';
    this.#sql.exec(due, chain, tokenAddress ?? '', tokenId ?? '');
  }

  /** Returns the chains on which the vault has something that is visible. */
  fundedChains(): readonly string[] {
    const funded = "SELECT DISTINCT chain FROM balance WHERE due_at_ms IS NOT NULL AND final <> '0'";
    return this.#sql
      .exec<{ chain: string }>(funded)
      .toArray()
      .map(({ chain }) => chain);
  }

  balance({ chain, tokenAddress, tokenId }: Omit<ChainAsset, 'kind'>): Balance | null {
    const key = [chain, tokenAddress ?? '', tokenId ?? ''];
    const row = this.#sql
      .exec<BalanceRow>(
        'SELECT chain, document FROM balance WHERE chain = ? AND token_address = ? AND token_id = ?',
        ...key,
      )
      .toArray()[0];
    return row === undefined ? null : balanceCodec.decode(row.document);
  }

  put(chain: string, balance: Balance): void {
    const { tokenAddress, tokenId, final } = balance;
    this.#sql.exec(
      'INSERT INTO balance (chain, token_address, token_id, final, document) VALUES (?, ?, ?, ?, ?) ON CONFLICT (chain, token_address, token_id) DO UPDATE SET final = excluded.final, document = excluded.document',
      chain,
      tokenAddress ?? '',
      tokenId ?? '',
      final,
      balanceCodec.encode(balance),
    );
  }

  /**
   * Replaces the effect of a transaction on the wallet; null when it is in no block (any more).
   * Reports whether an asset has a new comparison.
   */
  post({ recordId, chain, isSeen }: PostedRecord, posting: Posting | null): boolean {
    const before = this.#lines('WHERE record_id = ?', recordId);
    const after = (posting?.lines ?? []).map((line) => {
      return { ...line, block: BigInt(posting?.blockNumber ?? '0'), isFinal: posting?.isFinal ?? false };
    });
    this.#sql.exec('DELETE FROM ledger WHERE record_id = ?', recordId);
    for (const { kind, tokenAddress, tokenId, units, block, isFinal } of after) {
      this.#sql.exec(
        `INSERT INTO ledger (record_id, chain, ${LINE}) VALUES (?, ?, ?, ?, ?, ?, cast(? AS INTEGER), ?)`,
        recordId,
        chain,
        kind,
        tokenAddress ?? '',
        tokenId ?? '',
        units,
        block.toString(),
        isFinal ? 1 : 0,
      );
    }
    const touched = new Map([...before, ...after].map((line) => [assetKey(line), line]));
    let isFirst = false;
    for (const [key, asset] of touched) {
      const of = (lines: readonly StoredLine[]) => lines.filter((line) => assetKey(line) === key);
      if (this.open({ ...asset, chain }, isSeen(asset))) isFirst = true;
      this.#repost({ ...asset, chain }, of(before), of(after));
    }
    return isFirst;
  }

  #repost(asset: ChainAsset, before: readonly StoredLine[], after: readonly StoredLine[]): void {
    const balance = this.balance(asset) ?? newBalance(asset);
    const grown = (counts: (line: StoredLine) => boolean) => sumOf(after.filter(counts)) - sumOf(before.filter(counts));
    const checked = balance.check === null ? -1n : BigInt(balance.check.blockNumber);
    const final = plus(
      balance.final,
      grown(({ isFinal }) => isFinal),
    );
    const late = plus(
      balance.late,
      grown(({ block }) => block <= checked),
    );
    this.put(asset.chain, { ...balance, final, late });
  }

  /** Returns the recorded amount at the end of a block, and the part of it that is not final. */
  standAt(
    { chain, tokenAddress, tokenId }: ChainAsset,
    blockNumber: string,
  ): Pick<Comparison, 'recordedUnits' | 'revocable'> {
    const key = [chain, tokenAddress ?? '', tokenId ?? '', blockNumber];
    const at = 'WHERE chain = ? AND token_address = ? AND token_id = ? AND';
    const later = this.#lines(`${at} block > cast(? AS INTEGER) AND final = 1`, ...key);
    const open = this.openLines({ chain, tokenAddress, tokenId }).filter(({ block }) => block <= BigInt(blockNumber));
    const final = this.balance({ chain, tokenAddress, tokenId })?.final;
    return {
      recordedUnits: (final === undefined ? 0n : unitsOf(final)) - sumOf(later) + sumOf(open),
      revocable: open.map(({ units }) => unitsOf(units)),
    };
  }

  /** Returns the lines of blocks that are not final. */
  openLines({ chain, tokenAddress, tokenId }: Omit<ChainAsset, 'kind'>): readonly StoredLine[] {
    const key = [chain, tokenAddress ?? '', tokenId ?? ''];
    return this.#lines('WHERE chain = ? AND token_address = ? AND token_id = ? AND final = 0', ...key);
  }

  /** Returns the records with final lines of an asset after a block, the largest amounts first. */
  finalRecordsOf({ chain, tokenAddress, tokenId }: ChainAsset, since: string | null, limit: number): readonly string[] {
    const of = 'WHERE chain = ? AND token_address = ? AND token_id = ? AND final = 1 AND block > cast(? AS INTEGER)';
    // The order is approximate for huge amounts, which decides nothing but the order.
    const largest = `SELECT record_id AS id FROM ledger ${of} ORDER BY abs(cast(units AS REAL)) DESC LIMIT ?`;
    const key = [chain, tokenAddress ?? '', tokenId ?? ''];
    const rows = this.#sql.exec<{ id: string }>(largest, ...key, since ?? '-1', limit).toArray();
    return rows.map(({ id }) => id);
  }

  /** Returns the assets whose comparison is due, the oldest first. */
  due(nowMs: number, limit: number): readonly (ChainAsset & Balance)[] {
    return this.#balances('WHERE due_at_ms <= ? ORDER BY due_at_ms LIMIT ?', nowMs, limit);
  }

  /** Returns assets of a chain that are compared, those that differ from it first. */
  compared(chain: string, limit: number): readonly (ChainAsset & Balance)[] {
    const first = "document ->> '$.difference.units' IS NULL, due_at_ms";
    return this.#balances(`WHERE chain = ? AND due_at_ms IS NOT NULL ORDER BY ${first} LIMIT ?`, chain, limit);
  }

  /** Makes every comparison due now. */
  pollNow(nowMs: number): void {
    this.#sql.exec('UPDATE balance SET due_at_ms = ? WHERE due_at_ms > ?', nowMs, nowMs);
  }

  nextDueAtMs(): number | null {
    return this.#sql.exec<{ due: number | null }>('SELECT min(due_at_ms) AS due FROM balance').one().due;
  }

  /**
   * Returns one page by chain, address and id: every native asset, and the tokens that the wallet
   * has or may have soon.
   *
   * @param after the last one of the previous page
   */
  page(
    after: Omit<ChainAsset, 'kind'> | null,
    { limit, hiddenToo }: { readonly limit: number; readonly hiddenToo: boolean },
  ): readonly (ChainAsset & Balance)[] {
    const { chain, tokenAddress, tokenId } = after ?? { chain: '', tokenAddress: null, tokenId: null };
    const visible = hiddenToo ? '' : 'due_at_ms IS NOT NULL AND ';
    return this.#balances(
      `WHERE ${visible}(chain, token_address, token_id) > (?, ?, ?) AND (token_address = '' OR final <> '0' OR EXISTS (SELECT 1 FROM ledger WHERE ledger.chain = balance.chain AND ledger.token_address = balance.token_address AND ledger.token_id = balance.token_id AND ledger.final = 0)) ORDER BY chain, token_address, token_id LIMIT ?`,
      chain,
      tokenAddress ?? '',
      tokenId ?? '',
      limit,
    );
  }

  #balances(clause: string, ...bindings: (string | number)[]): readonly (ChainAsset & Balance)[] {
    const rows = this.#sql.exec<BalanceRow>(`SELECT chain, document FROM balance ${clause}`, ...bindings).toArray();
    return rows.map(({ chain, document }) => ({ chain, ...balanceCodec.decode(document) }));
  }

  #lines(clause: string, ...bindings: string[]): readonly StoredLine[] {
    const rows = this.#sql.exec<LineRow>(`SELECT ${LINE} FROM ledger ${clause}`, ...bindings).toArray();
    return rows.map((row) => ({
      kind: row.kind as AssetKind,
      tokenAddress: row.token_address === '' ? null : row.token_address,
      tokenId: row.token_id === '' ? null : row.token_id,
      units: signedAmountOf(BigInt(row.units)),
      block: BigInt(row.block),
      isFinal: row.final === 1,
    }));
  }
}

function sumOf(lines: readonly BalanceLine[]): bigint {
  return lines.reduce((sum, { units }) => sum + unitsOf(units), 0n);
}

function plus(amount: SignedAmount, units: bigint): SignedAmount {
  return signedAmountOf(unitsOf(amount) + units);
}
