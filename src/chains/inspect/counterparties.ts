import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import type { Action } from '#domain/transaction/intent.ts';
import { unreachable } from '#domain/result.ts';

/**
 * Returns every address that an action pays or trusts, which an attacker would have to imitate. For
 * calldata these are the addresses that a known standard decodes.
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
