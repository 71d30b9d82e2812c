import { assembleMessage, assembleTransaction, signaturesIn } from '#chains/bitcoin/rules/assemble.ts';
import type { BitcoinQuote } from '#chains/bitcoin/rules/compose.ts';
import { composeMessage, composeTransaction } from '#chains/bitcoin/rules/compose.ts';
import { readMessage } from '#chains/bitcoin/rules/message.ts';
import type { ChainRules } from '#chains/chain-rules.ts';
import { bitcoinFields } from '#chains/bitcoin/rules/field-rules.ts';
import { NO_MEMO } from '#chains/chain-rules.ts';
import type { Chain } from '#domain/asset/chain.ts';

/**
 * The maximum number of payments in flight: each reserves UTXOs, and further ones wait for their
 * turn. Ours.
 */
const MAX_IN_FLIGHT = 25;

/** Returns the rules of a Bitcoin network. */
export function bitcoinRules(chain: Chain): ChainRules<BitcoinQuote, bigint> {
  return {
    chain,
    ...bitcoinFields(chain.caip2),
    kinds: ['transfer', 'message'],
    ordering: { by: 'utxos', maxInFlight: MAX_IN_FLIGHT },
    parseKeylessRecipient: () => null,
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
