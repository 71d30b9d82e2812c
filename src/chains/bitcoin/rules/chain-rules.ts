import { parseAddress } from '#chains/bitcoin/rules/address.ts';
import { assembleMessage, assembleTransaction, signaturesIn } from '#chains/bitcoin/rules/assemble.ts';
import type { BitcoinQuote } from '#chains/bitcoin/rules/compose.ts';
import { composeMessage, composeTransaction } from '#chains/bitcoin/rules/compose.ts';
import { readMessage } from '#chains/bitcoin/rules/message.ts';
import { networkOf } from '#chains/bitcoin/rules/network.ts';
import { MAX_SATOSHI } from '#chains/bitcoin/rules/utxo.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { NO_MEMO } from '#chains/chain-rules.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { refused } from '#domain/result.ts';

/**
 * The maximum number of payments in flight: each reserves UTXOs, and further ones wait for their
 * turn. Ours.
 */
const MAX_IN_FLIGHT = 25;

/** Returns the rules of a Bitcoin network. */
export function bitcoinRules(chain: Chain): ChainRules<BitcoinQuote, bigint> {
  const network = networkOf(chain.caip2);
  if (network === null) throw new Error(`${chain.caip2} is not a known Bitcoin network.`);
  return {
    chain,
    largestAmount: MAX_SATOSHI,
    kinds: ['transfer', 'message'],
    ordering: { by: 'utxos', maxInFlight: MAX_IN_FLIGHT },
    parseRecipient: (text) => parseAddress(network, text),
    parseKeylessRecipient: () => null,
    // Bitcoin has no tokens.
    parseToken: () => refused('malformed' as const),
    parseCalldata: () => null,
    parseMessage: (text) => readMessage(text),
    parseRawMessage: null,
    memoFault: () => NO_MEMO,
    compose: composeTransaction,
    assemble: assembleTransaction,
    signaturesIn,
    composeMessage,
    assembleMessage,
  };
}
