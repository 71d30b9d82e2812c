import { parseAddress } from '#chains/evm/rules/address.ts';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf, parseAmount, unitsOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';

/**
 * Returns the maximum that executing an intent spends of each asset: the fee and the payment. For
 * calldata it is the value and, for a token's `transfer`, the tokens: what else a contract spends
 * cannot be read from its call. An allowance itself spends nothing.
 *
 * @param fee the largest fee, in the smallest unit of the native asset
 */
export function spendingOf(intent: OnChainIntent, fee: bigint): readonly AssetAmount[] {
  switch (intent.kind) {
    case 'transfer': {
      if (intent.tokenAddress === null) return [native(unitsOf(intent.amount) + fee)];
      return [native(fee), { tokenAddress: intent.tokenAddress, amount: intent.amount }];
    }
    case 'contract-interaction': {
      const token = tokenTransferIn(intent);
      return [native(unitsOf(intent.value) + fee), ...(token === null ? [] : [token])];
    }
    case 'erc20-approve':
      return [native(fee)];
    default:
      return unreachable(intent);
  }
}

function native(units: bigint): AssetAmount {
  return { tokenAddress: null, amount: amountOf(units) };
}

/**
 * Returns the tokens that a call transfers from its wallet; null for another call. `transferFrom`
 * is excluded, because the same bytes move one token of a collection, whose id is no amount.
 */
export function tokenTransferIn({ to, data }: { readonly to: string; readonly data: string }): AssetAmount | null {
  const call = data === '0x' ? null : decodeCall(data);
  const token = parseAddress(to);
  if (call === null || !token.ok || `${call.standard} ${call.function}` !== 'ERC-20 transfer') return null;
  const units = call.arguments.find(({ name }) => name === 'amount')?.value;
  const amount: Amount | null = typeof units === 'string' ? parseAmount(units) : null;
  return amount === null ? null : { tokenAddress: token.value, amount };
}
