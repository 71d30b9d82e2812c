import { parseAddress } from '#chains/bitcoin/rules/address.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { MAX_SATOSHI } from '#chains/bitcoin/rules/utxo.ts';
import type { FieldRules } from '#chains/chain-rules.ts';
import { refused } from '#domain/result.ts';

/**
 * Returns the rules of a Bitcoin network for single fields. Throws for an unknown network.
 *
 * @param caip2 the network
 */
export function bitcoinFields(caip2: string): FieldRules {
  const network = networkOf(caip2);
  if (network === null) throw new Error(`${caip2} is not a known Bitcoin network.`);
  return {
    largestAmount: MAX_SATOSHI,
    parseRecipient: (text) => parseAddress(network, text),
    // Bitcoin has no tokens.
    parseToken: () => refused('malformed'),
  };
}
