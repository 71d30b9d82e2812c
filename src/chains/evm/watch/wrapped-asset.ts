import { getAddress } from 'viem/utils';
import type { Log } from '#chains/evm/client/rpc-calls.ts';
import { partyOf } from '#chains/evm/watch/log-words.ts';
import { DEPOSIT, TRANSFER, WITHDRAWAL } from '#chains/evm/rules/transfer-topics.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';

/** Topic and one word of data: the amount. */
const AMOUNT_LENGTH = 2 + 64;

/**
 * Returns the mints and burns of listed wrapped assets: WETH9 logs no transfer when it wraps or
 * unwraps. An unlisted contract can log the same, and moves nothing by that.
 */
export function wrappedMovements(logs: readonly Log[], chain: Pick<Chain, 'tokens' | 'nativeSymbol'>): ChainMovement[] {
  const wrapped = wrappedAddresses(chain);
  // Some wrapped assets log a transfer as well (Scroll): each one accounts for one log.
  const logged = logs.filter(({ topics: [topic] }) => topic === TRANSFER).map(identityOfTransfer);
  return logs.flatMap((log) => {
    const [topic, owner, ...others] = log.topics;
    const tokenAddress = getAddress(log.address);
    if (!wrapped.has(tokenAddress) || (topic !== DEPOSIT && topic !== WITHDRAWAL)) return [];
    if (owner === undefined || others.length > 0 || log.data.length !== AMOUNT_LENGTH) return [];
    const party = partyOf(owner);
    const [from, to] = topic === DEPOSIT ? [null, party] : [party, null];
    const amount = amountOf(BigInt(log.data));
    const at = logged.indexOf(identity({ from, to, tokenAddress, amount }));
    if (at >= 0) logged.splice(at, 1);
    return at >= 0
      ? []
      : [{ uid: `log:${log.index}`, kind: 'erc20', from, to, tokenAddress, tokenId: null, amount } as const];
  });
}

/** By convention the symbol of a wrapped native asset is W and that of the native asset. */
function wrappedAddresses({ tokens, nativeSymbol }: Pick<Chain, 'tokens' | 'nativeSymbol'>): ReadonlySet<string> {
  const name = `w${nativeSymbol}`.toLowerCase();
  return new Set(tokens.filter(({ symbol }) => symbol.toLowerCase() === name).map(({ address }) => address));
}

function identityOfTransfer({ address, topics: [, from, to], data }: Log): string {
  const isReadable = from !== undefined && to !== undefined && data.length === AMOUNT_LENGTH;
  if (!isReadable) return '';
  return identity({
    from: partyOf(from),
    to: partyOf(to),
    tokenAddress: getAddress(address),
    amount: amountOf(BigInt(data)),
  });
}

function identity({ from, to, tokenAddress, amount }: Omit<ChainMovement, 'uid' | 'kind' | 'tokenId'>): string {
  return [from, to, tokenAddress, amount].join(' ');
}
