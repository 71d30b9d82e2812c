import type { Address } from '@solana/kit';
import type { MinedTransaction, TokenBalance } from '#chains/solana/client/rpc-calls.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';

/**
 * Returns all movements of a transaction, from its effect on each account. This includes the
 * effects of every program, known or not, and excludes the fee. A failed transaction has none.
 *
 * @param isUnique reports whether a mint is an NFT, which is a single unit without fractions
 */
export function movementsIn(landed: MinedTransaction, isUnique: (mint: Address) => boolean): readonly ChainMovement[] {
  if (landed.error !== null) return [];
  const mints = [...new Set([...landed.tokensBefore, ...landed.tokensAfter].map(({ mint }) => mint))];
  const native = between(lamportChanges(landed), { kind: 'native', tokenAddress: null });
  const tokens = mints.map((mint) => {
    const kind = isUnique(mint) ? 'splNft' : 'spl';
    return between(tokenChanges(landed, mint), { kind, tokenAddress: mint });
  });
  return [...native, ...tokens.flat()];
}

/**
 * Returns mints whose balances are at most one unit and which have no fractions: they may be NFTs.
 */
export function mayBeNft({ tokensBefore, tokensAfter }: MinedTransaction): readonly Address[] {
  const whole = [...tokensBefore, ...tokensAfter].filter(({ decimals, units }) => decimals === 0 && units <= 1n);
  return [...new Set(whole.map(({ mint }) => mint))];
}

interface Change {
  readonly party: Address;
  readonly units: bigint;
}

function lamportChanges({ accounts, lamportsBefore, lamportsAfter, fee }: MinedTransaction): readonly Change[] {
  return accounts.map((party, i) => {
    const spent = i === 0 ? fee : 0n;
    return { party, units: (lamportsAfter[i] ?? 0n) - (lamportsBefore[i] ?? 0n) + spent };
  });
}

/** Returns the changes by owner, because an owner may have several accounts of a mint. */
function tokenChanges({ tokensBefore, tokensAfter }: MinedTransaction, mint: Address): readonly Change[] {
  const changes = new Map<Address, bigint>();
  const count = (balances: readonly TokenBalance[], sign: bigint) => {
    for (const { mint: of, owner, units } of balances) {
      // A transaction with an account without its owner is not read.
      if (of === mint && owner !== null) changes.set(owner, (changes.get(owner) ?? 0n) + sign * units);
    }
  };
  count(tokensBefore, -1n);
  count(tokensAfter, 1n);
  return [...changes].map(([party, units]) => ({ party, units }));
}

/**
 * Returns movements that explain the changes of balances: the party that lost most pays first, to
 * the party that received most, until both sides are used up. Between two parties this is what
 * happened. Among more it is one possible explanation, in which each party has exactly its change.
 * Minting and burning have no other party.
 */
function between(
  changes: readonly Change[],
  asset: Pick<ChainMovement, 'kind' | 'tokenAddress'>,
): readonly ChainMovement[] {
  const bySize = (a: Change, b: Change) => compared(b.units, a.units);
  const came = changes.filter(({ units }) => units > 0n).toSorted(bySize);
  const went = changes.flatMap(({ party, units }) => (units < 0n ? [{ party, units: -units }] : [])).toSorted(bySize);
  const movements: ChainMovement[] = [];
  const move = (from: Address | null, to: Address | null, units: bigint) => {
    const uid = `${from ?? ''}:${to ?? ''}:${asset.tokenAddress ?? 'native'}`;
    movements.push({ uid, ...asset, from, to, tokenId: null, amount: amountOf(units) });
  };
  let [giver, left] = [0, went[0]?.units ?? 0n];
  for (const { party, units } of came) {
    let requested = units;
    for (let one = went[giver]; one !== undefined && requested > 0n; one = went[giver]) {
      const part = left < requested ? left : requested;
      move(one.party, party, part);
      requested -= part;
      left -= part;
      if (left === 0n) {
        giver += 1;
        left = went[giver]?.units ?? 0n;
      }
    }
    if (requested > 0n) move(null, party, requested);
  }
  for (; giver < went.length; giver += 1, left = went[giver]?.units ?? 0n) move(went[giver]?.party ?? null, null, left);
  return movements;
}

function compared(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
