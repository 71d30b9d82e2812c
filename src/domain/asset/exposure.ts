import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';

/** An asset of one chain. */
export interface AssetRef {
  /** CAIP-2. */
  readonly chain: string;
  /** Token contract in canonical spelling, or null for the native asset. */
  readonly tokenAddress: string | null;
}

/**
 * An amount that leaves the wallet, or that may be taken from it later: an allowance counts like a
 * spend.
 */
export interface AssetAmount {
  readonly tokenAddress: string | null;
  /** In the asset's smallest unit. */
  readonly amount: Amount;
}

/**
 * What an intent puts at risk, as far as it can be decoded. It follows from the intent alone: the
 * coordinator stores it with the record, and every co-signer derives it again.
 */
export interface Exposure {
  /** CAIP-2: where the assets are. Typed data can be for another chain than its transaction. */
  readonly chain: string;
  /** All movements that can be decoded. */
  readonly movements: readonly AssetAmount[];
  /**
   * The addresses that receive something, get an allowance or are called, in canonical spelling, as
   * far as they can be decoded.
   */
  readonly beneficiaries: readonly string[];
  /**
   * There may be more movements, or other ones: unknown calldata, bytes, typed data of no known
   * standard, or a permit or payment that names no chain.
   */
  readonly isUnreadable: boolean;
  /** Present when the signature names no chain: it is valid on every chain of its family. */
  readonly isUnbound?: true;
  /** The largest fee, in the smallest unit of the native asset. Absent from messages. */
  readonly fee?: Amount;
}

/** Returns the largest fee that an exposure names, or 0 when it names none. */
export function feeIn({ fee }: Exposure): bigint {
  return fee === undefined ? 0n : unitsOf(fee);
}

/** Returns the sum of all movements of one asset, in its smallest unit. */
export function totalOf({ chain, movements }: Exposure, asset: AssetRef): bigint {
  if (chain !== asset.chain) return 0n;
  const moving = movements.filter(({ tokenAddress }) => tokenAddress === asset.tokenAddress);
  return moving.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);
}
