import type { Address } from '@solana/kit';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { TokenAccount } from '#chains/solana/client/accounts.ts';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import { getAccountsOfMint } from '#chains/solana/client/rpc-calls.ts';
import type { PaymentAccounts } from '#chains/solana/client/payment-accounts.ts';
import type { Payment } from '#chains/solana/rules/transaction.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** The balance of a wallet's token, and the one account that a payment spends from. */
export interface Source {
  /** Null for the associated account. */
  readonly address: Address | null;
  /** Null for an account that does not exist. */
  readonly account: TokenAccount | null;
  /** The sum of all accounts of the wallet, in the token's smallest unit. */
  readonly total: bigint;
  /** The largest balance of a single usable account. */
  readonly largest: bigint;
}

/**
 * Returns the account that a token payment spends from: the associated one when it suffices, else
 * the smallest other one that does. One payment spends from one account, so that its bytes have one
 * form. When no account suffices it returns the associated one, with the payable amount. A payment
 * to the wallet itself collects the balance of its other accounts.
 */
export async function findSource(
  node: RpcNode,
  { wallet, to, mint, units }: Payment,
  { source: associated, program }: Pick<PaymentAccounts, 'source' | 'program'>,
): Promise<Result<Source, NodeProblem>> {
  const account = tokenAccountIn(associated);
  const own = isUsable(account, wallet) ? account.units : 0n;
  const source: Source = { address: null, account, total: own, largest: own };
  if (mint === null || (own >= units && to !== wallet)) return accepted(source);
  const found = await node.request(getAccountsOfMint(wallet, mint));
  if (!found.ok) return found;
  const associatedOnes = [wallet, to].map((owner) => tokenAccountOf(owner, mint, program));
  const others = found.value.flatMap(({ address, account: data }) => {
    const held = tokenAccountIn(data);
    const isOther = !associatedOnes.includes(address);
    return isOther && held?.mint === mint && isUsable(held, wallet) ? [{ address, account: held }] : [];
  });
  const held = [own, ...others.map((other) => other.account.units)];
  const [chosen] = others
    .filter((other) => other.account.units >= units)
    .toSorted((a, b) => (a.account.units < b.account.units ? -1 : 1));
  const total = held.reduce((sum, one) => sum + one, 0n);
  const largest = held.reduce((most, one) => (one > most ? one : most), 0n);
  return accepted({ ...source, ...chosen, total, largest });
}

/**
 * Reports whether an account can pay. A frozen account cannot. The wallet may also be only the
 * delegate of an account, which is not its own.
 */
function isUsable(account: TokenAccount | null, wallet: Address): account is TokenAccount {
  return account !== null && account.owner === wallet && !account.isFrozen;
}
