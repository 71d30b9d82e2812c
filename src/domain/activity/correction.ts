import type { Amount } from '#domain/asset/amount.ts';
import type { ChainMovement, WalletMovements } from '#domain/asset/movement.ts';
import { changedAssets } from '#domain/asset/movement.ts';

/** When a final record is wrong. Two RPC nodes, or one of an earlier release, stated it falsely. */

/** How well a reading of the chain is proven. */
export interface ReadingProof {
  /** Two RPC nodes state it alike, also that the transaction is gone. */
  readonly isByTwo: boolean;
  /** Two RPC nodes state its payments by contracts alike, and none otherwise. */
  readonly isTraced: boolean;
}

/** A reading by one RPC node, or by nodes without traces. */
export const UNPROVEN: ReadingProof = { isByTwo: false, isTraced: false };

/** What a record or RPC nodes state of a transaction in a block. */
interface Stated {
  readonly signer: string | null;
  readonly fee: Amount | null;
  readonly block: { readonly hash: string; readonly isFinal: boolean } | null;
}

/** A record, as far as a correction reads it. */
interface Recorded extends Stated, WalletMovements {
  readonly state: string;
  readonly wallet: string;
}

/** Reports whether no reorg can remove the block of a record that counts. */
export function isFinalRecord({ state, block }: Pick<Recorded, 'state' | 'block'>): boolean {
  return state !== 'FAILED' && block?.isFinal === true;
}

/** Reports whether a final record was given other contents, or none, and not only a valuation. */
export function isCorrected(before: Recorded, after: Recorded): boolean {
  return isFinalRecord(before) && (after.state !== before.state || after.movements !== before.movements);
}

/**
 * Reports whether the chain states another block, signer, amount or party than the record has. Of
 * a long list the record has the first movements alone, so only its sums are compared.
 */
export function hasOtherContents(before: Recorded, seen: Stated, view: WalletMovements): boolean {
  if (before.block?.hash !== seen.block?.hash || before.signer !== seen.signer) return true;
  if (before.signer === before.wallet && before.fee !== seen.fee) return true;
  if (changedAssets(before, view).size > 0 || changedAssets(view, before).size > 0) return true;
  if (before.movementCount !== view.movementCount) return true;
  const isCut = view.movementCount > view.movements.length;
  return !isCut && partiesText(before.movements) !== partiesText(view.movements);
}

function partiesText(movements: readonly ChainMovement[]): string {
  const lines = movements.map(({ tokenAddress, tokenId, from, to, amount }) =>
    JSON.stringify([tokenAddress, tokenId, from, to, amount]),
  );
  return lines.toSorted().join();
}
