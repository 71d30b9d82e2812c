import type { Claim } from '#chains/contents.ts';
import {
  alikeOfTwo,
  feeOfTwo,
  isByContract,
  isUnlogged,
  smallestFee,
  textOfMovements,
  tracedAmong,
} from '#chains/contents.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ChainMovement, WalletMovements } from '#domain/asset/movement.ts';
import { movementsOf } from '#domain/asset/movement.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';

/** What one RPC node states of an inclusion, with its index in `RPC_URLS`. */
export interface InclusionStatement extends Inclusion {
  readonly by: number;
  readonly host: string;
  /** The node has no readable trace. */
  readonly isUntraced: boolean;
}

/** Whose movements they are, and on which chain. */
interface Owner {
  readonly wallet: string;
  readonly chain: Pick<Chain, 'tokens'>;
}

export interface ProvenContents extends WalletMovements, Pick<Inclusion, 'feePaid'> {
  /** Two RPC nodes state the same fee and movements. Otherwise nothing of it is final. */
  readonly isWhole: boolean;
  /** Payments by contracts that one RPC node alone states. */
  readonly claim: Claim | null;
}

/**
 * Returns the fee and the movements that two RPC nodes state alike of one inclusion. Where their
 * statements differ, it is what two of them have in common, and it is not whole: the fee is then
 * the smaller one. Payments by contracts are apart, because only some nodes trace them.
 *
 * @param preferred the statement whose movement without a log counts, one of `statements`
 */
export function contentsOfTwo(
  statements: readonly InclusionStatement[],
  preferred: InclusionStatement,
  owner: Owner,
): ProvenContents {
  const alike = alikeOfTwo(statements, outerText);
  const isAgreed = alike.length > 0;
  const base = alike.find((one) => one === preferred) ?? alike[0] ?? preferred;
  const fees = statements.map(({ feePaid }) => feePaid);
  const agreedFee = feeOfTwo(fees);
  const feePaid = agreedFee ?? smallestFee(fees) ?? base.feePaid;
  const { agreed, claim } = tracedAmong(statements);
  const isWhole = isAgreed && agreedFee !== null;
  // A record has the first hundred movements alone, so its changes cannot be made again.
  if (isAgreed && isCut(base)) return { ...movedIn(base), feePaid, isWhole, claim: null };
  const unlogged = preferred.movements.filter(isUnlogged);
  const outer = (isAgreed ? base.movements : commonTo(statements)).filter(isOuter);
  const movements = movementsOf(owner.wallet, [...outer, ...unlogged, ...agreed], owner.chain);
  return { ...movements, feePaid, isWhole, claim };
}

/** Returns the inclusion with payments by contracts that the balances around its block prove. */
export function withProven(inclusion: Inclusion, proven: readonly ChainMovement[], owner: Owner): Inclusion {
  if (proven.length === 0) return inclusion;
  return { ...inclusion, ...movementsOf(owner.wallet, [...inclusion.movements, ...proven], owner.chain) };
}

function isOuter(one: ChainMovement): boolean {
  return !isByContract(one) && !isUnlogged(one);
}

function outerText(one: InclusionStatement): string {
  const text = textOfMovements(one.movements.filter(isOuter));
  return isCut(one) ? JSON.stringify([text, one.movementCount, one.changes]) : text;
}

function isCut({ movements, movementCount }: WalletMovements): boolean {
  return movementCount > movements.length;
}

/** Returns the movements of an inclusion alone. */
export function movedIn({ movements, movementCount, changes }: WalletMovements): WalletMovements {
  return { movements, movementCount, changes };
}

/** Returns the movements that two of the statements have; one that a node repeats counts once. */
function commonTo(statements: readonly InclusionStatement[]): readonly ChainMovement[] {
  const each = statements.flatMap(({ movements }) => [
    ...new Map(movements.map((one) => [textOfMovements([one]), one])).values(),
  ]);
  const byText = Map.groupBy(each, (one) => textOfMovements([one]));
  return [...byText.values()].flatMap(([first, second]) =>
    first === undefined || second === undefined ? [] : [first],
  );
}
