import type { Address } from '@solana/kit';
import { address } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { Account } from '#chains/solana/client/account-answers.ts';
import { TOKEN_PROGRAMS } from '#chains/solana/client/accounts.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import type { Payment } from '#chains/solana/rules/transaction.ts';

/** The sysvar with the epoch of the chain, by which the fee of a token changes. */
const CLOCK = address('SysvarC1ock11111111111111111111111111111111');
const EPOCH_OFFSET = 16;

/** The accounts that precede the token accounts in `accountsOf`. */
const LEADING = 4;

/**
 * Returns the accounts of a payment, in this order: the wallet, the recipient, and for a token its
 * mint, the clock, and the token accounts of wallet and recipient in each token program.
 */
export function accountsOf({ wallet, to, mint }: Payment): readonly Address[] {
  if (mint === null) return [wallet, to];
  const owners = [wallet, to];
  const held = TOKEN_PROGRAMS.flatMap((program) => owners.map((owner) => tokenAccountOf(owner, mint, program)));
  return [wallet, to, mint, CLOCK, ...held];
}

/** Returns the accounts that a payment writes to, as far as its intent determines them. */
export function writtenBy(payment: Payment): readonly Address[] {
  const addresses = accountsOf(payment);
  return payment.mint === null ? addresses : [payment.wallet, ...addresses.slice(LEADING)];
}

/** The accounts of a payment in one state of the chain; null for those that do not exist. */
export interface PaymentAccounts {
  readonly wallet: Account | null;
  readonly recipient: Account | null;
  readonly mint: Account | null;
  /** The token program that the mint belongs to; the first one for anything else. */
  readonly program: Address;
  /** The associated token accounts of the wallet and of the recipient. */
  readonly source: Account | null;
  readonly destination: Account | null;
  readonly epoch: bigint;
}

/** Names the accounts that `accountsOf` lists. */
export function namedAccounts(accounts: readonly (Account | null)[]): PaymentAccounts {
  const [wallet = null, recipient = null, mint = null, clock = null] = accounts;
  const program = TOKEN_PROGRAMS.find((one) => one === mint?.owner) ?? TOKEN_PROGRAM_ADDRESS;
  const at = LEADING + 2 * TOKEN_PROGRAMS.indexOf(program);
  const [source = null, destination = null] = accounts.slice(at, at + 2);
  const epoch = clock === null ? 0n : Buffer.from(clock.data).readBigUInt64LE(EPOCH_OFFSET);
  return { wallet, recipient, mint, program, source, destination, epoch };
}
