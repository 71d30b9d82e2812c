import { bitcoinFields } from '#chains/bitcoin/rules/field-rules.ts';
import type { FieldRules } from '#chains/chain-rules.ts';
import { EVM_FIELDS } from '#chains/evm/rules/field-rules.ts';
import { SOLANA_FIELDS } from '#chains/solana/rules/field-rules.ts';
import type { Chain } from '#domain/asset/chain.ts';

/** Returns the rules of a chain for single fields. Throws for an unknown Bitcoin network. */
export function fieldRulesFor({ family, caip2 }: Pick<Chain, 'family' | 'caip2'>): FieldRules {
  switch (family) {
    case 'evm':
      return EVM_FIELDS;
    case 'solana':
      return SOLANA_FIELDS;
    case 'bitcoin':
      return bitcoinFields(caip2);
  }
}
