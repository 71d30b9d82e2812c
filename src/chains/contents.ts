import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';

/** What RPC nodes state of the contents of a transaction whose block is proven. */

/**
 * Reports whether a movement is a payment by a contract, which only RPC nodes with traces show. An
 * RPC node without them states nothing about it.
 */
export function isByContract({ kind }: ChainMovement): boolean {
  return kind === 'internal';
}

/**
 * Returns the same text for the same movements, in any order. A collectible from before ERC-721 has
 * its id as its amount where a node does not have the state that shows the difference.
 */
export function textOfMovements(movements: readonly ChainMovement[]): string {
  const lines = movements.map(({ uid, kind, tokenAddress, tokenId, from, to, amount }) => {
    const units = kind === 'erc721' ? [tokenId, null] : [amount, tokenId];
    return JSON.stringify([uid, tokenAddress, from, to, ...units]);
  });
  return JSON.stringify(lines.toSorted());
}

/** The id of the movement that no log shows and that is read from balances (`TokenTransfer`). */
export const UNLOGGED_UID = 'call';

export function isUnlogged({ uid }: ChainMovement): boolean {
  return uid === UNLOGGED_UID;
}

/** Returns the statements of two or more RPC nodes with the same text; none when no two agree. */
export function alikeOfTwo<T>(statements: readonly T[], textOf: (statement: T) => string): readonly T[] {
  return [...Map.groupBy(statements, textOf).values()].find(({ length }) => length > 1) ?? [];
}

/** Movements that one RPC node states. */
export interface Claim {
  /** The index of the RPC node in `RPC_URLS`. */
  readonly by: number;
  readonly host: string;
  readonly movements: readonly ChainMovement[];
}

/** What one RPC node states; `isUntraced` when it has no readable trace. */
export interface Statement extends Claim {
  readonly isUntraced: boolean;
}

/**
 * Returns the payments by contracts that two RPC nodes state alike, or else those of the only node
 * that traces, which the balances around the block must prove. Nodes whose traces differ prove
 * nothing.
 */
export function tracedAmong(statements: readonly Statement[]): {
  readonly agreed: readonly ChainMovement[];
  readonly claim: Claim | null;
} {
  const traced = statements
    .map(({ by, host, movements }) => ({ by, host, movements: movements.filter(isByContract) }))
    .filter(({ movements }) => movements.length > 0);
  const [agreed] = alikeOfTwo(traced, ({ movements }) => textOfMovements(movements));
  if (agreed !== undefined) return { agreed: agreed.movements, claim: null };
  const [first] = traced;
  const isAlone = statements.filter(({ isUntraced }) => !isUntraced).length === 1;
  return { agreed: [], claim: isAlone && first !== undefined ? first : null };
}

/** Reports whether two RPC nodes state the same payments by contracts, and none states others. */
export function areTracedAlike(statements: readonly Omit<Statement, 'by' | 'host'>[]): boolean {
  const traced = statements.filter(({ isUntraced }) => !isUntraced);
  const texts = new Set(traced.map(({ movements }) => textOfMovements(movements.filter(isByContract))));
  return traced.length > 1 && texts.size === 1;
}

/** Returns the fee that two RPC nodes state; null when no two do. */
export function feeOfTwo(fees: readonly Amount[]): Amount | null {
  return fees.find((fee, i) => fees.indexOf(fee) !== i) ?? null;
}

/** Returns the smallest of fees that RPC nodes state differently; null without one. */
export function smallestFee(fees: readonly Amount[]): Amount | null {
  return fees.toSorted((a, b) => (unitsOf(a) < unitsOf(b) ? -1 : 1))[0] ?? null;
}
