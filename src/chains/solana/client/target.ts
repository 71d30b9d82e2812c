import type { Address } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import type { PermanentFault } from '#chains/inspect/permanent-fault.ts';
import { permanent, shortOf } from '#chains/inspect/permanent-fault.ts';
import { mintIn, TOKEN_2022, tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import type { Account } from '#chains/solana/client/account-answers.ts';
import type { Source } from '#chains/solana/client/source.ts';
import type { TokenTerms } from '#chains/solana/rules/payment-terms.ts';
import type { Payment } from '#chains/solana/rules/transaction.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Returns the accounts of a payment, in this order: the wallet, the recipient, and for a token its
 * mint and both token accounts.
 */
export function accountsOf({ wallet, to, mint }: Payment): readonly Address[] {
  return mint === null ? [wallet, to] : [wallet, to, mint, tokenAccountOf(wallet, mint), tokenAccountOf(to, mint)];
}

/**
 * Checks the accounts of a payment. Refuses, in order: RECIPIENT_REFUSED for a program, or an
 * account that is a token account or belongs to another program (funds sent there may be
 * unspendable); TOKEN_REFUSED for an account that is no mint, for Token-2022 by its name, and for
 * frozen accounts; INSUFFICIENT_FUNDS for a token balance; RECIPIENT_REFUSED for a token account
 * whose owner has changed.
 */
export function targetOf(
  { to, mint, units }: Payment,
  accounts: readonly (Account | null)[],
  { address, account: held, total, largest }: Source,
): Result<TokenTerms | null, PermanentFault> {
  const [, recipient = null, minted = null, , destination = null] = accounts;
  if (recipient?.isExecutable === true) return refused(permanent('RECIPIENT_REFUSED', `${to} is a program.`));
  if (recipient !== null && recipient.owner !== SYSTEM_PROGRAM_ADDRESS) {
    return refused(permanent('RECIPIENT_REFUSED', `${to} is not a wallet. It belongs to ${recipient.owner}.`));
  }
  if (mint === null) return accepted(null);
  if (minted?.owner === TOKEN_2022) {
    return refused(permanent('TOKEN_REFUSED', `${mint} is a Token-2022 token, which is not supported.`));
  }
  const token = mintIn(minted);
  if (token === null) return refused(permanent('TOKEN_REFUSED', `${mint} is not a mint of the token program.`));
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
  const from = address === null ? {} : { source: address };
  return accepted({ decimals: token.decimals, opensAccount: got === null, ...from });
}
