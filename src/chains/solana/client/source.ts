import type { Address } from '@solana/kit';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { TokenAccount } from '#chains/solana/client/accounts.ts';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { tokenAccountOf } from '#chains/solana/rules/address.ts';
import type { Account } from '#chains/solana/client/rpc-calls.ts';
import { getAccountsOfMint } from '#chains/solana/client/rpc-calls.ts';
import type { Payment } from '#chains/solana/rules/transaction.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** What a wallet has of a token, and the one account that a payment takes from. */
export interface Source {
  /** Null for the associated account. */
  readonly address: Address | null;
  /** Null for an account that does not exist. */
  readonly account: TokenAccount | null;
  /** Of all accounts of the wallet together, in the token's smallest unit. */
  readonly total: bigint;
  /** The most that one account holds and can give. */
  readonly largest: bigint;
}

/**
 * Chooses the account that a payment of tokens takes from: the associated one where it suffices, else the smallest other one that
 * does. One payment takes from one account, so that its bytes have one form; where no account suffices the associated one is given,
 * with what could be paid. A payment to the wallet itself collects what its other accounts hold.
 */
export async function findSource(
  node: RpcNode,
  { wallet, to, mint, units }: Payment,
  associated: Account | null,
): Promise<Result<Source, NodeProblem>> {
  const account = tokenAccountIn(associated);
  const own = isUsable(account, wallet) ? account.units : 0n;
  const source: Source = { address: null, account, total: own, largest: own };
  if (mint === null || (own >= units && to !== wallet)) return accepted(source);
  const found = await node.request(getAccountsOfMint(wallet, mint));
  if (!found.ok) return found;
  const others = found.value.flatMap(({ address, account: data }) => {
    const held = tokenAccountIn(data);
    const isOther = address !== tokenAccountOf(wallet, mint) && address !== tokenAccountOf(to, mint);
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

/** A frozen account gives nothing. The wallet may be no more than the delegate of an account: that is not its own. */
function isUsable(account: TokenAccount | null, wallet: Address): account is TokenAccount {
  return account !== null && account.owner === wallet && !account.isFrozen;
}
