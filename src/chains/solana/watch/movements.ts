import type { Address } from '@solana/kit';
import type { MinedTransaction, TokenBalance } from '#chains/solana/client/rpc-calls.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ChainMovement } from '#domain/activity/movement.ts';

/**
 * Everything that a transaction moved, out of what it did to each account: what every program did on the way is in it, known or not. What
 * was paid for its inclusion is no part of it. Nothing when it failed.
 *
 * @param isUnique whether a mint is an NFT: of one unit that cannot be parted
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

/** Mints of which somebody has one unit more or less, and which have no fractions: they may be NFTs. */
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

/** By whom the units belong to: somebody may have several accounts of a mint. */
function tokenChanges({ tokensBefore, tokensAfter }: MinedTransaction, mint: Address): readonly Change[] {
  const changes = new Map<Address, bigint>();
  const count = (balances: readonly TokenBalance[], sign: bigint) => {
    for (const { mint: of, owner, account, units } of balances) {
      if (of !== mint) continue;
      const party = owner ?? account;
      changes.set(party, (changes.get(party) ?? 0n) + sign * units);
    }
  };
  count(tokensBefore, -1n);
  count(tokensAfter, 1n);
  return [...changes].map(([party, units]) => ({ party, units }));
}

/**
 * Who gave what to whom, as far as balances tell: whoever lost most gave first, to whoever got most, until both sides are used up. Among two
 * that is what happened; among more it is one of the ways in which it may have, and each party has exactly what it has more or less. What
 * came out of nothing, or went there, has no other side.
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
      const given = left < requested ? left : requested;
      move(one.party, party, given);
      requested -= given;
      left -= given;
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
