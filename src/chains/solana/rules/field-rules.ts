import type { FieldRules } from '#chains/chain-rules.ts';
import { parseMint, parseWallet } from '#chains/solana/rules/address.ts';
import { UINT64_MAX } from '#domain/asset/amount.ts';

export const SOLANA_FIELDS: FieldRules = {
  largestAmount: UINT64_MAX,
  parseRecipient: parseWallet,
  parseToken: parseMint,
};
