import type { Amount, SignedAmount } from '#domain/asset/amount.ts';
import { signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';

/** Spec part 6: what of a chain's transaction can concern a wallet. */
export const MOVEMENT_KINDS = ['native', 'internal', 'erc20', 'erc721', 'erc1155', 'spl', 'splNft'] as const;
type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** What a wallet can hold: the chain's own coin, or tokens of a standard. */
export const ASSET_KINDS = ['native', 'erc20', 'spl', 'erc721', 'splNft', 'erc1155'] as const;
export type AssetKind = (typeof ASSET_KINDS)[number];

/** Tokens of which one unit is as good as another: they have prices. */
export function isFungible({ kind }: { readonly kind: AssetKind }): boolean {
  return kind === 'erc20' || kind === 'spl';
}

/** Tokens of which each is another: nobody can say what they are worth. */
export function isCollectible({ kind }: { readonly kind: AssetKind }): boolean {
  return kind !== 'native' && !isFungible({ kind });
}

/** What a token is that is paid by its address alone. @param chain CAIP-2 */
export function fungibleKindOn(chain: string): AssetKind {
  return chain.startsWith('solana:') ? 'spl' : 'erc20';
}

/** One thing that changed hands. */
export interface ChainMovement {
  /**
   * The same whoever reports it: `top`, `trace:<path>`, `log:<index>` or `log:<index>:<position>`; of Solana `<from>:<to>:<mint>` or
   * `<from>:<to>:native`, for what a transaction did to each; of Bitcoin `out:<number of the output>`.
   */
  readonly uid: string;
  readonly kind: MovementKind;
  /** In the chain's canonical spelling; null for made out of nothing, or destroyed. */
  readonly from: string | null;
  readonly to: string | null;
  /** Null for the native asset. */
  readonly tokenAddress: string | null;
  /** Decimal; null for what has no ids: an NFT of Solana is a mint of its own. */
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

/** What a wallet has more, or less, of one asset. */
export interface BalanceChange extends Asset {
  /** Positive came, negative went; in the asset's smallest unit. */
  readonly units: SignedAmount;
  /** All of it was made out of nothing. */
  readonly isMinted: boolean;
  /** The coin, or a token that is listed as money. */
  readonly isCash: boolean;
}

/** What a transaction did to one wallet; its fee is no part of it. */
export interface WalletMovements {
  /** The first hundred. */
  readonly movements: readonly ChainMovement[];
  /** All that there were. */
  readonly movementCount: number;
  /** The net of all, one for each asset; one that came and went in the same amount is among them. */
  readonly changes: readonly BalanceChange[];
}

/** A record shows as many. A stranger's contract can write ten thousand log lines about a wallet; a record is a row that has to fit. */
const MAX_MOVEMENTS = 100;
/** Of those that are left out none is money: the coin and fungible tokens come first. Ours. */
const MAX_ASSETS = 100;

export function concerns(wallet: string, { from, to }: ChainMovement): boolean {
  return from === wallet || to === wallet;
}

/** What concerns a wallet among everything that a transaction moved. */
export function movementsOf(
  wallet: string,
  all: readonly ChainMovement[],
  chain: Pick<Chain, 'tokens'>,
): WalletMovements {
  const concerning = all.filter((one) => concerns(wallet, one));
  const changes = new Map<string, Asset & { readonly units: bigint; readonly isMinted: boolean }>();
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
    });
  }
  const ordered = ASSET_KINDS.flatMap((kind) => [...changes.values()].filter((change) => change.kind === kind));
  return {
    movements: concerning.slice(0, MAX_MOVEMENTS),
    movementCount: concerning.length,
    changes: ordered.slice(0, MAX_ASSETS).map((change) => ({
      ...change,
      units: signedAmountOf(change.units),
      isCash: change.tokenAddress === null || listedToken(chain, change.tokenAddress)?.isCash === true,
    })),
  };
}

/** A text that is the same for the same asset of one chain, and for no other. */
export function assetKey({ tokenAddress, tokenId }: Omit<Asset, 'kind'>): string {
  return `${tokenAddress ?? ''}/${tokenId ?? ''}`;
}
