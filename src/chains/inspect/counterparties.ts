import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import type { Action } from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';

/**
 * Every address that an action gives something to, or trusts: whom somebody would have to imitate. Of calldata those that a known
 * standard shows.
 */
export function counterpartiesOf(action: Action): readonly string[] {
  switch (action.kind) {
    case 'transfer':
      return [action.to, ...(action.tokenAddress === null ? [] : [action.tokenAddress])];
    case 'contract-interaction': {
      const named = decodeCall(action.data)?.arguments ?? [];
      const addresses = named.filter(({ type }) => type === 'address').map(({ value }) => String(value));
      return [action.to, ...addresses];
    }
    case 'erc20-approve':
      return [action.tokenAddress, action.spender];
    case 'message':
      return [];
    default:
      return unreachable(action);
  }
}
