import type { Bug } from './bug.ts';

const SELECTION = ['test/chains/bitcoin/coin-selection.test.ts'];

/** Coins and fees of Bitcoin: a wallet that locks too much, pays too much, or cannot pay although it could. */
export const BITCOIN_BUGS: readonly Bug[] = [
  {
    name: 'coins: a small payment locks the largest coin',
    file: 'src/chains/bitcoin/coin-selection.ts',
    was: 'for (const coin of free) {',
    is: 'for (const coin of free.toReversed()) {',
    caughtBy: SELECTION,
  },
  {
    name: 'coins: one that costs more than it is worth is spent',
    file: 'src/chains/bitcoin/coin-selection.ts',
    was: 'return amount > feeAt(rate, virtualBytes(inputWeightOf(own)));',
    is: 'return amount > feeAt(0n * rate, virtualBytes(inputWeightOf(own)));',
    caughtBy: SELECTION,
  },
  {
    name: 'coins: more than one transaction can spend',
    file: 'src/chains/bitcoin/coin-selection.ts',
    was: 'if (coins.length >= mostCoinsOf(payment.own)) return null;',
    is: '',
    caughtBy: SELECTION,
  },
  {
    name: 'coins: the search for a set without change takes one with change',
    file: 'src/chains/bitcoin/coin-selection.ts',
    was: 'if (found === null || found.change > 0n) return best;',
    is: 'if (found === null || found.change === 0n) return best;',
    caughtBy: SELECTION,
  },
  {
    name: 'coins: the order in which a server lists them decides',
    file: 'src/chains/bitcoin/coin-selection.ts',
    was: 'return nameOf(a) < nameOf(b) ? -1 : 1;',
    is: 'return 0;',
    caughtBy: SELECTION,
  },
];
