import type { Bug } from './bug.ts';
import { domain } from './bug.ts';

const RATES = ['test/chains/bitcoin/fee-rates.test.ts'];
const REPLACEMENT = ['test/chains/bitcoin/replacement.test.ts'];
const COINS = ['test/chains/bitcoin/coins.test.ts'];
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
  {
    name: 'replacement: what hangs on the old one is not paid for',
    file: 'src/chains/bitcoin/replacement.ts',
    was: 'larger(fee, demand.conflictingFees) + relay,',
    is: 'fee + relay,',
    caughtBy: REPLACEMENT,
  },
  {
    name: 'replacement: a larger one has the lower rate',
    file: 'src/chains/bitcoin/replacement.ts',
    was: 'feeAt(oldRate + 1n, size),',
    is: '',
    caughtBy: REPLACEMENT,
  },
  {
    name: 'replacement: a full mempool is approached in steps',
    file: 'src/chains/bitcoin/replacement.ts',
    was: 'scaled(demand.minimumFee, virtualSize, size),',
    is: '',
    caughtBy: REPLACEMENT,
  },
  {
    name: 'replacement: RPC nodes raise the fee as far as they like',
    file: 'src/domain/fee-raise.ts',
    was: 'return base === undefined ? null : unitsOf(base.maxFee) * LARGEST_RAISE;',
    is: 'return base === undefined || LARGEST_RAISE > 0n ? null : unitsOf(base.maxFee);',
    caughtBy: domain('fee-raise'),
  },
  {
    name: 'replacement: each raise allows the next one',
    file: 'src/domain/fee-raise.ts',
    was: 'const asked = attempts.findLastIndex(({ purpose }, i) => !isRaisedByNodes(attempts[i - 1], purpose));',
    is: 'const asked = attempts.length - 1;',
    caughtBy: domain('fee-raise'),
  },
  {
    name: 'replacement: a person who asks for more is not heard',
    file: 'src/domain/transition.ts',
    was: 'answer, isAsked: true as const };',
    is: 'answer };',
    caughtBy: domain('fee-raise'),
  },
  {
    name: 'fees: a server without rates means one satoshi on mainnet',
    file: 'src/chains/bitcoin/fee-rates.ts',
    was: 'if (!rates.ok || rates.value.size > 0 || isBitcoinTestNetwork(caip2)) return rates;',
    is: "if (!rates.ok || rates.value.size > 0 || caip2 !== '') return rates;",
    caughtBy: RATES,
  },
  {
    name: 'fees: one odd entry takes all rates away',
    file: 'src/chains/bitcoin/question.ts',
    was: 'if (found !== undefined) rates.set(Number.parseInt(blocks, 10), found);',
    is: 'if (found === undefined) return undefined;\n    rates.set(Number.parseInt(blocks, 10), found);',
    caughtBy: RATES,
  },
  {
    name: 'fees: the configured rate is not used',
    file: 'src/chains/bitcoin/fee-rates.ts',
    was: 'if (rates.ok || chain.fallbackFeeRate === undefined) return rates;',
    is: 'if (rates.ok || chain.fallbackFeeRate !== undefined) return rates;\n  if (chain.fallbackFeeRate === undefined) return rates;',
    caughtBy: RATES,
  },
  {
    name: 'fees: a rate for later blocks alone counts as none',
    file: 'src/chains/bitcoin/rate.ts',
    was: 'named.findLast((target) => target <= blocks) ?? named[0];',
    is: 'named.findLast((target) => target <= blocks);',
    caughtBy: RATES,
  },
  {
    name: 'fee cap: co-signers do not look at the size',
    file: 'src/chains/fee-ceiling.ts',
    was: "if (ceilings.has(chain) || !('virtualSize' in payload)) return false;",
    is: "if (ceilings.has(chain) || chain !== '' || !('virtualSize' in payload)) return false;",
    caughtBy: ['test/attacks/coordinator/dear-fee-for-size.test.ts'],
  },
  {
    name: 'fee cap: one of many coins may pay no more than one of one',
    file: 'src/domain/fee-cap.ts',
    was: 'return bySize > SMALL_TRANSACTION_CAP ? bySize : SMALL_TRANSACTION_CAP;',
    is: 'return bySize < SMALL_TRANSACTION_CAP ? bySize : SMALL_TRANSACTION_CAP;',
    caughtBy: domain('fee-cap'),
  },
  {
    name: 'fee cap: a transaction fails for a price that may fall',
    file: 'src/domain/fee-cap.ts',
    was: "return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length === 0;",
    is: "return reason === 'FEE_CAP_EXCEEDED' && signedAttempts(transaction).length > 0;",
    caughtBy: domain('fee-cap'),
  },
  {
    name: 'many coins: one that was spent counts',
    file: 'src/chains/bitcoin/coins.ts',
    was: 'return accepted(coins.filter((coin) => !spent.has(nameOf(coin))));',
    is: 'return accepted(coins.filter((coin) => nameOf(coin) !== String(spent.size)));',
    caughtBy: COINS,
  },
  {
    name: 'many coins: one that a waiting transaction spends counts',
    file: 'src/chains/bitcoin/coins.ts',
    was: 'new Set([...waiting.value, ...transfers]',
    is: 'new Set([...transfers]',
    caughtBy: COINS,
  },
  {
    name: 'many coins: the whole history is read, however long it is',
    file: 'src/chains/bitcoin/coins.ts',
    was: 'page < MAX_PAGES && !isWhole;',
    is: 'page < MAX_PAGES * 1000 && !isWhole;',
    caughtBy: COINS,
  },
  {
    name: 'many coins: what spends a coin may be on the page that is not read',
    file: 'src/chains/bitcoin/coins.ts',
    was: '(transfer.block?.hash === oldest ? [] : madeFor(address, transfer))',
    is: "(transfer.block?.hash === '' ? [] : madeFor(address, transfer))",
    caughtBy: COINS,
  },
  {
    name: 'many coins: too many small ones are called too little',
    file: 'src/chains/bitcoin/shortage.ts',
    was: 'if (worthy.length > most && left(worthy) >= amount) {',
    is: 'if (worthy.length > most && left(worthy) < amount) {',
    caughtBy: COINS,
  },
];
