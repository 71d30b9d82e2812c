import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';

/** An asset of one chain. */
export interface AssetRef {
  /** CAIP-2. */
  readonly chain: string;
  /** Token contract in canonical spelling, or null for the native asset. */
  readonly tokenAddress: string | null;
}

/** What leaves the wallet, or may be taken out of it afterwards: a leave to spend counts like the spending. */
export interface AssetAmount {
  readonly tokenAddress: string | null;
  /** In the asset's smallest unit. */
  readonly amount: Amount;
}

/**
 * What an intent puts at stake, as far as anybody can read it. It follows from the intent alone: the coordinator keeps it with the
 * record, and every co-signer works it out again.
 */
export interface Exposure {
  /** CAIP-2. */
  readonly chain: string;
  /** All that can be read. */
  readonly movements: readonly AssetAmount[];
  /** Who gets something, may take something, or is called, in canonical spelling; all that can be read. */
  readonly beneficiaries: readonly string[];
  /** There may be more than that: unknown calldata, typed data that is no known permit. */
  readonly isUnreadable: boolean;
  /** Present where the signature names no chain: it is valid on every chain of its family. */
  readonly isUnbound?: true;
  /** The largest fee, in the smallest unit of the native asset. Absent from messages, and from records of before. */
  readonly fee?: Amount;
}

/** The largest fee that an exposure names, 0 where it names none. */
export function feeIn({ fee }: Exposure): bigint {
  return fee === undefined ? 0n : unitsOf(fee);
}

/** All that moves of one asset together, in its smallest unit. */
export function totalOf({ chain, movements }: Exposure, asset: AssetRef): bigint {
  if (chain !== asset.chain) return 0n;
  const moving = movements.filter(({ tokenAddress }) => tokenAddress === asset.tokenAddress);
  return moving.reduce((sum, { amount }) => sum + unitsOf(amount), 0n);
}
