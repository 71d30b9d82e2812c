import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent, shortOf } from '#chains/permanent-fault.ts';
import { mintIn, tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { accountFault, mintFault, withheldAt } from '#chains/solana/client/token-extensions.ts';
import type { PaymentAccounts } from '#chains/solana/client/payment-accounts.ts';
import type { Source } from '#chains/solana/client/source.ts';
import type { TokenTerms } from '#chains/solana/rules/payment-terms.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';
import type { Payment } from '#chains/solana/rules/transaction.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The terms of a payment of a token, and a fee of it that its mint has announced. */
export interface Target {
  readonly token: TokenTerms | null;
  /** The largest fee in the current and the next epochs, in units of the token. */
  readonly announcedFee: bigint;
}

/**
 * Checks the accounts of a payment. Refuses, in order: RECIPIENT_REFUSED for a program, or an
 * account that is a token account or belongs to another program (funds sent there may be
 * unspendable); TOKEN_REFUSED for an account that is no mint, for a token of Token-2022 that is not
 * paid, by its reason, and for frozen accounts; INSUFFICIENT_FUNDS for a token balance;
 * RECIPIENT_REFUSED for a token account whose owner has changed, or that accepts no such payment.
 */
export function targetOf(
  { to, mint, units, memo }: Payment,
  { recipient, mint: minted, program, destination, epoch }: PaymentAccounts,
  { address: source, account: held, total, largest }: Source,
): Result<Target, PermanentFault> {
  if (recipient?.isExecutable === true) return refused(permanent('RECIPIENT_REFUSED', `${to} is a program.`));
  if (recipient !== null && recipient.owner !== SYSTEM_PROGRAM_ADDRESS) {
    return refused(permanent('RECIPIENT_REFUSED', `${to} is not a wallet. It belongs to ${recipient.owner}.`));
  }
  if (mint === null) return accepted({ token: null, announcedFee: 0n });
  const token = mintIn(minted);
  if (token === null || minted === null)
    return refused(permanent('TOKEN_REFUSED', `${mint} is not a mint of a token program.`));
  const fault = mintFault(minted, destination === null);
  if (fault !== null) return refused(permanent('TOKEN_REFUSED', `The token ${mint} ${fault}.`));
  const got = tokenAccountIn(destination);
  if (held?.isFrozen === true) return refused(permanent('TOKEN_REFUSED', 'The token account of the wallet is frozen.'));
  if (largest < units) {
    const most = total > largest ? ` One payment can spend at most ${largest}, the balance of one token account.` : '';
    return refused(
      shortOf(
        mint,
        units - largest,
        `The wallet holds ${total} token units. The transaction requires ${units}.${most}`,
      ),
    );
  }
  if (got?.isFrozen === true)
    return refused(permanent('TOKEN_REFUSED', 'The token account of the recipient is frozen.'));
  if (got !== null && got.owner !== to) {
    return refused(permanent('RECIPIENT_REFUSED', `The token account of ${to} belongs to ${got.owner}.`));
  }
  const refusal = destination === null ? null : accountFault(destination, memo !== null);
  if (refusal !== null) return refused(permanent('RECIPIENT_REFUSED', `The token account of ${to} ${refusal}.`));
  const fee = withheldAt(minted, units, epoch);
  const from = source === null ? {} : { source };
  const withheld = program === TOKEN_2022 ? { withheld: fee.now } : {};
  const terms = { decimals: token.decimals, opensAccount: got === null, ...withheld, ...from };
  return accepted({ token: terms, announcedFee: fee.later });
}
