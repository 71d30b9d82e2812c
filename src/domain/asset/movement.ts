import type { Amount, SignedAmount } from '#domain/asset/amount.ts';
import { signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';

/** Spec part 6: the kinds of movements that can concern a wallet. */
export const MOVEMENT_KINDS = ['native', 'internal', 'erc20', 'erc721', 'erc1155', 'spl', 'splNft'] as const;
type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** The assets that a wallet can hold: the native asset, or tokens of a standard. */
export const ASSET_KINDS = ['native', 'erc20', 'spl', 'erc721', 'splNft', 'erc1155'] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

/** Reports whether the units of an asset are interchangeable tokens, which have prices. */
export function isFungible({ kind }: { readonly kind: AssetKind }): boolean {
  return kind === 'erc20' || kind === 'spl';
}

/**
 * Reports whether each token of the asset is unique. No source has a market value for such a token.
 */
export function isCollectible({ kind }: { readonly kind: AssetKind }): boolean {
  return kind !== 'native' && !isFungible({ kind });
}

/**
 * Returns the kind of a token that is identified by its address alone.
 *
 * @param chain CAIP-2
 */
export function fungibleKindOn(chain: string): AssetKind {
  return chain.startsWith('solana:') ? 'spl' : 'erc20';
}

/** One transfer of an asset between two addresses. */
export interface ChainMovement {
  /**
   * The same id from every data source. EVM: `top`, `trace:<path>`, `log:<index>` or
   * `log:<index>:<position>`. Solana: `<from>:<to>:<mint>` or `<from>:<to>:native`, for the net
   * effect of a transaction. Bitcoin: `out:<number of the output>`.
   */
  readonly uid: string;
  readonly kind: MovementKind;
  /** In the chain's canonical spelling. `from` is null for a mint, and `to` is null for a burn. */
  readonly from: string | null;
  readonly to: string | null;
  /** Null for the native asset. */
  readonly tokenAddress: string | null;
  /** Decimal; null for assets without ids. An NFT of Solana is a mint of its own. */
  readonly tokenId: string | null;
  /** In the asset's smallest unit; 1 for an NFT. */
  readonly amount: Amount;
}

/** One asset of a chain, or one token of a collection. */
export interface Asset {
  readonly kind: AssetKind;
  /** Null for the native asset. */
  readonly tokenAddress: string | null;
  readonly tokenId: string | null;
}

export const NATIVE: Asset = { kind: 'native', tokenAddress: null, tokenId: null };

/** The change of one asset of a wallet. */
export interface BalanceChange extends Asset {
  /** Positive for received, negative for sent; in the asset's smallest unit. */
  readonly units: SignedAmount;
  /** All of the units were minted. */
  readonly isMinted: boolean;
  /** All of the units were burned. Absent when not, and in records of release 0.2.0. */
  readonly isBurned?: true;
  /** The native asset, or a token that is listed as money. */
  readonly isCash: boolean;
}

/** The effect of a transaction on one wallet, without its fee. */
export interface WalletMovements {
  /**
   * The first hundred movements, those of the native asset, of listed tokens and of tokens in the
   * default balances before others.
   */
  readonly movements: readonly ChainMovement[];
  /** The number of all movements. */
  readonly movementCount: number;
  /**
   * The net change of each asset. An asset that was received and sent in the same amount is
   * included.
   */
  readonly changes: readonly BalanceChange[];
}

/**
 * The maximum number of movements in a record. A stranger's contract can write ten thousand log
 * lines about a wallet, and a record must fit in a row. The native asset and listed tokens come
 * first, then the tokens of the default balances, so that no line of a stranger displaces money or
 * hides a theft. Ours.
 */
const MAX_MOVEMENTS = 100;
/**
 * The native asset, listed tokens, tokens of the default balances and fungible tokens come first,
 * in this order. Ours.
 */
const MAX_ASSETS = 100;

/** Returns an address in the spelling of filters: those of EVM chains have no case. */
export function searched(address: string): string {
  return address.startsWith('0x') ? address.toLowerCase() : address;
}

export function concerns(wallet: string, { from, to }: ChainMovement): boolean {
  return from === wallet || to === wallet;
}

/**
 * Returns the movements of a transaction that concern a wallet.
 *
 * @param shownTokens returns the contracts in the default balances; called for many movements only
 */
export function movementsOf(
  wallet: string,
  all: readonly ChainMovement[],
  chain: Pick<Chain, 'tokens'>,
  shownTokens: () => ReadonlySet<string> = () => new Set(),
): WalletMovements {
  const concerning = all.filter((one) => concerns(wallet, one));
  type Net = Asset & { readonly units: bigint; readonly isMinted: boolean; readonly isBurned: boolean };
  const changes = new Map<string, Net>();
  for (const { kind, from, to, tokenAddress, tokenId, amount } of concerning) {
    const key = assetKey({ tokenAddress, tokenId });
    const before = changes.get(key);
    const units = (to === wallet ? unitsOf(amount) : 0n) - (from === wallet ? unitsOf(amount) : 0n);
    changes.set(key, {
      kind: kind === 'internal' ? 'native' : kind,
      tokenAddress,
      tokenId,
      units: (before?.units ?? 0n) + units,
      isMinted: (before?.isMinted ?? true) && from === null,
      isBurned: (before?.isBurned ?? true) && to === null,
    });
  }
  const isListed = ({ tokenAddress }: { readonly tokenAddress: string | null }) =>
    tokenAddress === null || listedToken(chain, tokenAddress) !== null;
  const byKind = ASSET_KINDS.flatMap((kind) => [...changes.values()].filter((change) => change.kind === kind));
  const kept = concerning.length > MAX_MOVEMENTS || byKind.length > MAX_ASSETS ? shownTokens() : new Set<string>();
  const isShown = ({ tokenAddress }: { readonly tokenAddress: string | null }) =>
    tokenAddress !== null && kept.has(tokenAddress);
  const byRank = <T extends { readonly tokenAddress: string | null }>(some: readonly T[]) =>
    firstThose(firstThose(some, isShown), isListed);
  const ordered = byRank(byKind);
  return {
    movements: (concerning.length > MAX_MOVEMENTS ? byRank(concerning) : concerning).slice(0, MAX_MOVEMENTS),
    movementCount: concerning.length,
    changes: ordered.slice(0, MAX_ASSETS).map(({ isBurned, ...change }) => ({
      ...change,
      ...(isBurned ? { isBurned } : {}),
      units: signedAmountOf(change.units),
      isCash: change.tokenAddress === null || listedToken(chain, change.tokenAddress)?.isCash === true,
    })),
  };
}

function firstThose<T>(all: readonly T[], isFirst: (one: T) => boolean): readonly T[] {
  return [...all.filter(isFirst), ...all.filter((one) => !isFirst(one))];
}

/** Returns a text that identifies the asset among the assets of one chain. */
export function assetKey({ tokenAddress, tokenId }: Omit<Asset, 'kind'>): string {
  return `${tokenAddress ?? ''}/${tokenId ?? ''}`;
}

/** Returns the tokens, and null for the native asset, whose amounts differ from those before. */
export function changedAssets(before: WalletMovements, after: WalletMovements): ReadonlySet<string | null> {
  const amounts = new Map(before.changes.map((change) => [assetKey(change), change.units]));
  const other = after.changes.filter((change) => amounts.get(assetKey(change)) !== change.units);
  return new Set(other.map(({ tokenAddress }) => tokenAddress));
}
