import { parseAddress as parseBitcoinAddress } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { MAX_SATOSHI } from '#chains/bitcoin/rules/utxo.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { parseAddress as parseEvmAddress } from '#chains/evm/rules/address.ts';
import { parseMint, parseWallet } from '#chains/solana/rules/address.ts';
import { UINT64_MAX } from '#chains/solana/rules/payload.ts';
import { UINT256_MAX } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { refused } from '#domain/result.ts';

/** The rules of a chain for single fields. They compose no bytes, so a page can load them. */
export type FieldRules = Pick<ChainRules, 'largestAmount' | 'parseRecipient' | 'parseToken'>;

/** Returns the rules of a chain for single fields. Throws for an unknown Bitcoin network. */
export function fieldRulesFor({ family, caip2 }: Pick<Chain, 'family' | 'caip2'>): FieldRules {
  switch (family) {
    case 'evm':
      return { largestAmount: UINT256_MAX, parseRecipient: parseEvmAddress, parseToken: parseEvmAddress };
    case 'solana':
      return { largestAmount: UINT64_MAX, parseRecipient: parseWallet, parseToken: parseMint };
    case 'bitcoin': {
      const network = networkOf(caip2);
      if (network === null) throw new Error(`${caip2} is not a known Bitcoin network.`);
      const parseRecipient = (text: string) => parseBitcoinAddress(network, text);
      // Bitcoin has no tokens.
      return { largestAmount: MAX_SATOSHI, parseRecipient, parseToken: () => refused('malformed') };
    }
  }
}
