import type { Bug } from './bug.ts';

const SOURCE = ['test/chains/solana/source.test.ts'];
const FOREIGN = ['test/attacks/coordinator/foreign-token-account.test.ts'];
const PRICE = ['test/chains/solana/price.test.ts'];

/** What a payment on Solana costs, takes from, says and may pay. */
export const SOLANA_BUGS: readonly Bug[] = [
  {
    name: 'solana: an expired blockhash doubles the price',
    file: 'src/chains/solana/price.ts',
    was: 'const isRaised = replaced !== null && !replaced.hasLapsed;',
    is: 'const isRaised = replaced !== null;',
    caughtBy: PRICE,
  },
  {
    name: 'solana: a further attempt pays less than co-signers sign',
    file: 'src/chains/solana/price.ts',
    was: 'isRaised ? 2n * replaced.paid : 0n), least);',
    is: 'isRaised ? 2n * replaced.paid : 0n), 0n);',
    caughtBy: PRICE,
  },
  {
    name: 'solana: the price leaves the fee cap',
    file: 'src/chains/solana/price.ts',
    was: 'return wanted < most ? wanted : most;',
    is: 'return wanted;',
    caughtBy: PRICE,
  },
  {
    name: 'solana: only the accounts of a payment are asked for prices',
    file: 'src/chains/solana/quote.ts',
    was: 'paid: prices.map((answer) => (answer.ok ? answer.value : [])),',
    is: 'paid: prices.slice(0, 1).map((answer) => (answer.ok ? answer.value : [])),',
    caughtBy: PRICE,
  },
  {
    name: 'solana: the delegate of a source account may pay',
    file: 'src/chains/solana/transaction.ts',
    was: '...(token.source === undefined ? [] : [getRevokeInstruction({ source, owner: signer })]),',
    is: '',
    caughtBy: FOREIGN,
  },
  {
    name: 'solana: the account of the recipient pays itself',
    file: 'src/chains/solana/transaction.ts',
    was: 'return token.source !== tokenAccountOf(wallet, mint) && token.source !== tokenAccountOf(to, mint);',
    is: 'return token.source !== tokenAccountOf(wallet, mint) || token.source === to;',
    caughtBy: FOREIGN,
  },
  {
    name: 'solana: an account that was only delegated counts as the wallet’s own',
    file: 'src/chains/solana/source.ts',
    was: 'return account !== null && account.owner === wallet && !account.isFrozen;',
    is: 'return account !== null && wallet.length > 0 && !account.isFrozen;',
    caughtBy: SOURCE,
  },
  {
    name: 'solana: only the associated account of a token can pay',
    file: 'src/chains/solana/source.ts',
    was: '.filter((other) => other.account.units >= units)',
    is: '.filter((other) => other.account.units < 0n)',
    caughtBy: SOURCE,
  },
];
