import { type Bug, domain } from '../bug.ts';

const file = 'src/domain/wallet/reservation.ts';
const caughtBy = domain('wallet/reservation');

/**
 * Bugs in the amount that the reservations of one payment leave available for the other payments of
 * its wallet.
 */
export const RESERVATION_BUGS: readonly Bug[] = [
  {
    name: 'reservation: a payment is weighed by itself',
    file,
    was: 'return maxPerAsset(reserved.get(transactionId) ?? [], record?.amounts ?? []);',
    is: 'return [];',
    caughtBy,
  },
  {
    name: 'reservation: what the vault knows to be in flight is forgotten',
    file,
    was: ', record?.amounts ?? []);',
    is: ', []);',
    caughtBy,
  },
  {
    name: 'reservation: what the balance is without is subtracted again',
    file,
    was: 'others.filter((one) => !isInBalance(one, funds))',
    is: 'others.filter(() => true)',
    caughtBy,
  },
  {
    name: 'reservation: the transaction at the count is in the balance',
    file,
    was: 'return nonce < BigInt(nonceCount);',
    is: 'return nonce <= BigInt(nonceCount);',
    caughtBy,
  },
  {
    name: 'reservation: balances of before a settled payment are weighed',
    file,
    was: 'if (BigInt(funds.blockNumber) < inFlight.settledBlock)',
    is: "if (funds.blockNumber === '')",
    caughtBy,
  },
  {
    name: 'reservation: a cancellation gives back what the payment may still take',
    file,
    was: 'const requested = maxPerAsset(before, amounts);',
    is: 'const requested = amounts;',
    caughtBy,
  },
  {
    name: 'reservation: an account is emptied below its minimum beside others',
    file,
    was: 'return left >= least || (left === 0n && taken === 0n);',
    is: 'return left >= least || left === 0n;',
    caughtBy,
  },
  {
    name: 'reservation: a shortage that others cannot have caused is waited for',
    file,
    was: 'return sumOf(undecided, missing.tokenAddress) >= unitsOf(missing.amount);',
    is: 'return undecided.length > 0;',
    caughtBy,
  },
  {
    name: 'reservation: a payment that waits for money takes a nonce',
    file: 'src/objects/wallet-nonce/object.ts',
    was: "const book = weighed.outcome === 'reserved' ? allocation.book : whole;",
    is: 'const book = allocation.book;',
    caughtBy: ['test/objects/wallet-nonce/funds.worker.test.ts'],
  },
  {
    name: 'reservation: a payment fails for money that may come back',
    file: 'src/jobs/signing/nonce-allocation.ts',
    was: "mayBeReorged(refusal.missing, isReverted ? ofToken : undecided) ? { kind: 'in-flight' } : refusal;",
    is: "mayBeReorged(undefined, []) ? { kind: 'in-flight' } : refusal;",
    caughtBy: ['test/jobs/signing/funds.test.ts'],
  },
];
