import type { FieldRules } from '#chains/chain-rules.ts';
import { parseAddress } from '#chains/evm/rules/address.ts';
import { UINT256_MAX } from '#domain/asset/amount.ts';

export const EVM_FIELDS: FieldRules = {
  largestAmount: UINT256_MAX,
  parseRecipient: parseAddress,
  parseToken: parseAddress,
};
